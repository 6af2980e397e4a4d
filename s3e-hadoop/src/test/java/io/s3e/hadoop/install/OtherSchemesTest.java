// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.stream.S3EReadable;
import io.s3e.testing.Eventually;
import io.s3e.testing.Slow;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** S3E behind the other schemes that {@code bootstrap.sh} sets, by both keys of each. */
class OtherSchemesTest {
  private static final byte[] CONTENT = {1, 2, 3, 4, 5};

  /** Their engine's settings would stand for the tests that come in this JVM. */
  @AfterEach
  void closeWhatContextsHaveLeft() throws InterruptedException {
    Eventually.awaitTrue(
        "the file systems of forgotten contexts are closed",
        () -> {
          collectGarbage();
          return OpenEngines.work().memoryLimit() == 0;
        });
  }

  @Slow
  @ParameterizedTest
  @ValueSource(strings = {"s3a", "s3", "s3n"})
  void isReadByS3e(String scheme) throws Exception {
    Configuration conf = S3AServer.s3a(S3AServer.endpoint());
    conf.set("fs." + scheme + ".impl", S3EFileSystem.class.getName());
    conf.set("fs.AbstractFileSystem." + scheme + ".impl", S3EAbstractFileSystem.class.getName());
    URI bucket = URI.create(scheme + "://" + S3AServer.BUCKET);
    Path path = new Path(bucket + "/of-the-scheme-" + scheme);
    try (FileSystem fs = FileSystem.newInstance(bucket, conf)) {
      try (OutputStream out = fs.create(path)) {
        out.write(CONTENT);
      }
      assertThat(fs.getFileStatus(path).getPath()).isEqualTo(path);
      assertThat(fs.hasPathCapability(path, "fs.s3a.s3e")).isTrue();
      try (InputStream in = fs.open(path)) {
        assertArrayEquals(CONTENT, in.readAllBytes());
      }
    }
    FileContext context = FileContext.getFileContext(bucket, conf);
    try (FSDataInputStream in = context.open(path)) {
      assertThat(in.getWrappedStream()).isInstanceOf(S3EReadable.class);
      assertThat(in.getWrappedStream().toString()).contains("S3E");
      assertArrayEquals(CONTENT, in.readAllBytes());
    }
    assertThat(context.getDefaultFileSystem().toString()).contains("S3EFileSystem");
  }

  /** FileContext has no close, and nobody else holds the file system that it has made. */
  @Test
  @Slow
  void aStreamKeepsTheFileSystemOfAForgottenContext() throws Exception {
    Configuration conf = S3AServer.s3a(S3AServer.endpoint());
    conf.set("fs.AbstractFileSystem.s3a.impl", S3EAbstractFileSystem.class.getName());
    URI bucket = URI.create("s3a://" + S3AServer.BUCKET);
    Path path = new Path(bucket + "/of-a-forgotten-context");
    EnumSet<CreateFlag> anew = EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE);
    try (OutputStream out = FileContext.getFileContext(bucket, conf).create(path, anew)) {
      collectGarbage();
      out.write(CONTENT);
    }
    WeakReference<Object> fileSystem = readByForgottenContext(bucket, conf, path);
    Eventually.awaitTrue(
        "the file system goes once its stream has",
        () -> {
          collectGarbage();
          return fileSystem.get() == null;
        });
  }

  /** A method of its own: what its variables held is nobody's afterwards. */
  private static WeakReference<Object> readByForgottenContext(
      URI bucket, Configuration conf, Path path) throws Exception {
    FileContext context = FileContext.getFileContext(bucket, conf);
    WeakReference<Object> fileSystem = new WeakReference<>(context.getDefaultFileSystem());
    try (FSDataInputStream in = context.open(path)) {
      context = null;
      collectGarbage();
      assertArrayEquals(CONTENT, in.readAllBytes());
    }
    FileContext other = FileContext.getFileContext(bucket, conf);
    try (FSDataInputStream in = other.openFile(path).build().get()) {
      other = null;
      collectGarbage();
      assertArrayEquals(CONTENT, in.readAllBytes());
    }
    return fileSystem;
  }

  /** Cleaners have run when it returns, as far as one can tell. */
  private static void collectGarbage() throws InterruptedException {
    CountDownLatch cleaned = new CountDownLatch(1);
    Cleaner cleaner = Cleaner.create();
    cleaner.register(new Object(), cleaned::countDown);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    do {
      System.gc();
      assertThat(System.nanoTime()).isLessThan(deadline);
    } while (!cleaned.await(50, TimeUnit.MILLISECONDS));
  }
}
