// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What is being uploaded when a job ends does not come to be behind its deletion. */
@Timeout(60)
class EmbeddedDataTest {
  @TempDir private Path temp;
  private final Bucket bucket = new Bucket();

  /** Has its objects once their streams are closed; closing those of text takes long. */
  private static final class Bucket extends FilterFileSystem {
    final Set<String> objects = ConcurrentHashMap.newKeySet();
    final CountDownLatch closing = new CountDownLatch(1);
    final CountDownLatch mayClose = new CountDownLatch(1);

    Bucket() {
      super(new RawLocalFileSystem());
    }

    @Override
    public FSDataOutputStream create(
        org.apache.hadoop.fs.Path file,
        FsPermission permission,
        boolean overwrite,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress)
        throws IOException {
      return new FSDataOutputStream(new Upload(file.getName()), null);
    }

    /** As S3A's: an abort of a stream that is being closed comes too late. */
    private final class Upload extends OutputStream implements Abortable {
      private final String name;
      private volatile boolean closed;

      Upload(String name) {
        this.name = name;
      }

      @Override
      public void write(int value) {}

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        if (closed) {
          throw new IOException("aborted");
        }
      }

      @Override
      public AbortableResult abort() {
        boolean wasClosed = closed;
        closed = true;
        return new AbortableResult() {
          @Override
          public boolean alreadyClosed() {
            return wasClosed;
          }

          @Override
          public IOException anyCleanupException() {
            return null;
          }
        };
      }

      @Override
      public void close() throws IOException {
        if (closed) {
          return;
        }
        closed = true;
        if (!name.equals("warm-up")) {
          closing.countDown();
          try {
            assertThat(mayClose.await(30, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            // The store has the request, whatever becomes of its sender.
          }
        }
        objects.add(name);
      }
    }
  }

  private EmbeddedData data() throws IOException {
    bucket.initialize(URI.create("file:///"), new Configuration(false));
    BenchCommand command = new BenchCommand();
    var unused = new CommandLine(command).parseArgs("--workloads=seq", "--size=1");
    Path local = Files.createDirectory(temp.resolve("data"));
    Progress progress = new Progress(System.err, false, false);
    return new EmbeddedData(bucket, "file:///", local, command.options(), progress);
  }

  @Test
  void anUploadUnderWayEndsBeforeStopReturnsAndNoneFollows() throws Exception {
    EmbeddedData data = data();
    CompletableFuture<Void> written = new CompletableFuture<>();
    Thread writer =
        new Thread(
            () -> {
              try {
                data.write();
                written.complete(null);
              } catch (IOException | InterruptedException e) {
                written.completeExceptionally(e);
              }
            });
    writer.start();
    assertThat(bucket.closing.await(30, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Set<String>> atStop = new CompletableFuture<>();
    Thread stopper =
        new Thread(
            () -> {
              try {
                data.stop();
                atStop.complete(Set.copyOf(bucket.objects));
              } catch (IOException | InterruptedException e) {
                atStop.completeExceptionally(e);
              }
            });
    stopper.start();
    Eventually.awaitTrue(
        "it waits for the upload", () -> stopper.getState() == Thread.State.TIMED_WAITING);
    bucket.mayClose.countDown();
    Set<String> before = atStop.get(30, TimeUnit.SECONDS);
    writer.join();
    assertThat(bucket.objects).isEqualTo(before);
    assertThat(written).isDone();
  }

  @Test
  void nothingIsWrittenAfterStop() throws Exception {
    EmbeddedData data = data();
    data.stop();
    assertThatThrownBy(data::write).isInstanceOf(IOException.class).hasMessageContaining("warm-up");
    assertThat(bucket.objects).isEmpty();
  }
}
