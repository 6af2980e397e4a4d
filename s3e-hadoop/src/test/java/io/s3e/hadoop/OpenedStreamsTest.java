// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What callbacks of {@code openFile()} hear. */
class OpenedStreamsTest {
  private static final URI BUCKET = URI.create("s3a://" + S3AServer.BUCKET);
  private static final Path MISSING = new Path(BUCKET + "/opened-streams/missing");

  private static Configuration conf(boolean isS3e) {
    Configuration conf =
        isS3e ? S3AServer.s3e(S3AServer.endpoint()) : S3AServer.s3a(S3AServer.endpoint());
    conf.set(
        "fs.AbstractFileSystem.s3a.impl",
        isS3e ? S3EAbstractFileSystem.class.getName() : "org.apache.hadoop.fs.s3a.S3A");
    return conf;
  }

  private static Class<?> failure(CompletableFuture<FSDataInputStream> opening) throws Exception {
    return opening
        .<Class<?>>handle((in, e) -> e == null ? null : e.getClass())
        .get(20, TimeUnit.SECONDS);
  }

  private static Class<?> failureByFileSystem(boolean isS3e) throws Exception {
    try (FileSystem fs = S3AReads.open(conf(isS3e))) {
      return failure(fs.openFile(MISSING).build());
    }
  }

  private static Class<?> failureByFileContext(boolean isS3e) throws Exception {
    FileContext context = FileContext.getFileContext(BUCKET, conf(isS3e));
    return failure(context.openFile(MISSING).build());
  }

  @Test
  void aFailureIsToldAsByS3a() throws Exception {
    assertThat(failureByFileSystem(true))
        .isEqualTo(failureByFileSystem(false))
        .isEqualTo(FileNotFoundException.class);
    assertThat(failureByFileContext(true))
        .isEqualTo(failureByFileContext(false))
        .isEqualTo(FileNotFoundException.class);
  }

  @Test
  void whatFailsAfterTheOpeningFailsIt() throws Exception {
    CompletableFuture<FSDataInputStream> opening = new CompletableFuture<>();
    CompletableFuture<FSDataInputStream> given =
        OpenedStreams.with(
            opening,
            opened -> {
              throw new IllegalStateException("afterwards");
            });
    opening.complete(opened());
    assertThat(failure(given)).isEqualTo(IllegalStateException.class);
  }

  /** As a dependent stage: S3A goes on to open the file, and nothing is made of the stream. */
  @Test
  void whoCancelsCancelsNoOpening() throws Exception {
    CompletableFuture<FSDataInputStream> opening = new CompletableFuture<>();
    CompletableFuture<FSDataInputStream> given =
        OpenedStreams.with(
            opening,
            opened -> {
              throw new AssertionError("nobody wants it");
            });
    assertThat(given.cancel(true)).isTrue();
    assertThat(opening).isNotDone();
    FSDataInputStream opened = opened();
    assertThat(opening.complete(opened)).isTrue();
    assertThat(failure(given)).isEqualTo(CancellationException.class);
    assertThat(opening).isCompletedWithValue(opened);
  }

  private static FSDataInputStream opened() throws IOException {
    try (FileSystem local = FileSystem.newInstance(URI.create("file:///"), new Configuration())) {
      return local.open(new Path("/dev/null"));
    }
  }
}
