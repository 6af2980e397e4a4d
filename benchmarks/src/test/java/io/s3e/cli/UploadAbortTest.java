// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/** How an upload ends whose parts take no notice of an interruption. */
@Timeout(60)
class UploadAbortTest {
  private static final Upload.Target TARGET =
      new Upload.Target(
          new ObjectRef("bucket", "key"),
          Upload.Existing.REPLACED,
          "application/octet-stream",
          Map.of(),
          null,
          Checksum.NONE);

  /** A client whose parts go on for as long as the body lets them. */
  private abstract static class StubbornClient implements S3Client {
    final Queue<String> aborted = new ConcurrentLinkedQueue<>();
    final CountDownLatch begun = new CountDownLatch(2);

    @Override
    public CreateMultipartUploadResponse createMultipartUpload(
        CreateMultipartUploadRequest request) {
      return CreateMultipartUploadResponse.builder().uploadId("upload-1").build();
    }

    @Override
    public UploadPartResponse uploadPart(UploadPartRequest request, RequestBody body) {
      begun.countDown();
      goOn(body);
      return UploadPartResponse.builder().eTag("etag").build();
    }

    abstract void goOn(RequestBody body);

    @Override
    public AbortMultipartUploadResponse abortMultipartUpload(AbortMultipartUploadRequest request) {
      aborted.add(request.uploadId());
      return AbortMultipartUploadResponse.builder().build();
    }

    @Override
    public String serviceName() {
      return "s3";
    }

    @Override
    public void close() {}
  }

  /** A client whose parts do not even ask for the body. */
  private static final class StuckClient extends StubbornClient {
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    void goOn(RequestBody body) {
      awaitUninterruptibly(closed);
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }

  /** Has two parts, and fails once both are under way. */
  private static PartSource failing(CountDownLatch begun) {
    return PartSource.of(
        new InputStream() {
          private int left = 2;

          @Override
          public int read() throws IOException {
            if (left == 0) {
              awaitUninterruptibly(begun);
              throw new IOException("the tape has torn");
            }
            left--;
            return 0;
          }
        },
        1);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean done = false;
    while (!done) {
      try {
        latch.await();
        done = true;
      } catch (InterruptedException e) {
        // As a request that does not hear of it.
        done = false;
      }
    }
  }

  private static Throwable failure(StubbornClient s3, Duration patience) {
    try (PartSource source = failing(s3.begun);
        Upload upload = new Upload(s3, TARGET, 2, bytes -> {}, patience)) {
      upload.send(source);
      throw new AssertionError("the source has failed");
    } catch (IOException | InterruptedException e) {
      return e;
    }
  }

  /** Else nobody would: the command says nothing of its failure then. */
  @Test
  void anInterruptionAfterTheAbortTellsWhatStays() throws Exception {
    try (StuckClient s3 = new StuckClient();
        PartSource source = failing(s3.begun)) {
      Upload upload = new Upload(s3, TARGET, 2, bytes -> {}, Duration.ofMillis(1));
      assertThatThrownBy(() -> upload.send(source)).hasMessage("the tape has torn");
      assertThatThrownBy(upload::close).isInstanceOf(UnabortedUploadException.class);

      assertThat(upload.abortNow()).contains("upload-1", "those that arrive later stay");
      assertThat(s3.aborted).containsExactly("upload-1");
    }
  }

  @Test
  void anUploadIsAbortedAlsoWhileItsPartsAreUnderWay() {
    try (StuckClient s3 = new StuckClient()) {
      Throwable failure = failure(s3, Duration.ofMillis(1));

      assertThat(failure).hasMessage("the tape has torn");
      assertThat(s3.aborted).containsExactly("upload-1");
      assertThat(failure.getSuppressed())
          .singleElement()
          .isInstanceOfSatisfying(
              UnabortedUploadException.class,
              e -> assertThat(e).hasMessageContaining("upload-1", "under way"));
    }
  }

  @Test
  void bodiesBreakOffOnceTheUploadHasEnded() {
    try (StubbornClient s3 =
        new StubbornClient() {
          @Override
          void goOn(RequestBody body) {
            while (true) {
              try (InputStream in = body.contentStreamProvider().newStream()) {
                in.readAllBytes();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            }
          }
        }) {
      Throwable failure = failure(s3, Duration.ofSeconds(10));

      assertThat(failure).hasMessage("the tape has torn");
      assertThat(failure).hasNoSuppressedExceptions();
      assertThat(s3.aborted).containsExactly("upload-1");
    }
  }

  @Test
  void whoIsInterruptedAbortsAllTheSame() {
    try (StuckClient s3 = new StuckClient()) {
      assertThatThrownBy(
              () -> {
                try (PartSource source = failing(s3.begun);
                    Upload upload = new Upload(s3, TARGET, 2, bytes -> {}, Duration.ofHours(1))) {
                  try {
                    upload.send(source);
                  } finally {
                    Thread.currentThread().interrupt();
                  }
                }
              })
          .hasMessage("the tape has torn");
      assertThat(Thread.interrupted()).isTrue();
      assertThat(s3.aborted).containsExactly("upload-1");
    }
  }
}
