// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.testing.RecordingHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Each GET ends once, and gives back what it holds, whatever the SDK client does. */
@Timeout(30)
class SyncObjectClientEndsTest {
  private static final GetRequest REQUEST =
      new GetRequest(
          new ObjectRef("bucket", "key"), new ByteRange(0, 10), null, null, false, Map.of(), null);

  /** A store of which a test says how it answers. */
  private interface Store extends BlockingStore {
    @Override
    default ObjectHead head(HeadRequest request) {
      throw new UnsupportedOperationException();
    }
  }

  private static ObjectClient client(Store store) {
    return new SyncObjectClient(store, "test", 1, 1 << 20);
  }

  @Test
  void anErrorOfTheLibraryEndsTheGet() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    try (ObjectClient client =
        client(
            request -> {
              throw new OutOfMemoryError("Cannot reserve 8192 bytes of direct buffer memory");
            })) {
      client.get(REQUEST, handler);
      assertThat(handler.awaitFailure()).hasMessageContaining("direct buffer memory");
    }
  }

  /** An error that cannot even be told ends the GET all the same. */
  @Test
  void anErrorOfWhichNoFailureCanBeMadeEndsTheGet() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    try (ObjectClient client =
        client(
            request -> {
              throw new IllegalStateException("unsayable") {
                @Override
                public synchronized Throwable getCause() {
                  throw new OutOfMemoryError("for the test");
                }

                @Override
                public String getMessage() {
                  throw new OutOfMemoryError("for the test");
                }
              };
            })) {
      client.get(REQUEST, handler);
      assertThat(handler.awaitFailure()).hasMessageContaining("cannot be told");
    }
  }

  /** Threads serve all readers one after the other, as long as GETs come. */
  @Test
  void aThreadHasNothingOfTheReaderThatBeganIt() throws Exception {
    InheritableThreadLocal<String> ofReader = new InheritableThreadLocal<>();
    Thread reader = Thread.currentThread();
    ClassLoader before = reader.getContextClassLoader();
    RecordingHandler handler = new RecordingHandler();
    try (URLClassLoader loader = new URLClassLoader(new URL[0], before);
        ObjectClient client =
            client(
                request -> {
                  boolean isLeft = Thread.currentThread().getContextClassLoader() != loader;
                  throw new IllegalStateException(isLeft + " " + ofReader.get());
                })) {
      ofReader.set("a task");
      reader.setContextClassLoader(loader);
      client.get(REQUEST, handler);
      assertThat(handler.awaitFailure()).hasMessageContaining("true null");
    } finally {
      reader.setContextClassLoader(before);
      ofReader.remove();
    }
  }

  /** Containers bound the threads of a process; S3A's own stream needs none. */
  @Test
  void aGetForWhichThereIsNoThreadWaitsForOneThatWorks() throws Exception {
    CountDownLatch mayAnswer = new CountDownLatch(1);
    Store store =
        request -> {
          try {
            assertThat(mayAnswer.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          throw new IllegalStateException("answered");
        };
    try (SyncObjectClient client = new SyncObjectClient(store, "test", 2, 1 << 20)) {
      RecordingHandler first = new RecordingHandler();
      client.get(REQUEST, first);
      ThreadFactory usual = client.threads.getThreadFactory();
      client.threads.setThreadFactory(
          task ->
              new Thread(task) {
                @Override
                public void start() {
                  throw new OutOfMemoryError("unable to create native thread");
                }
              });
      RecordingHandler second = new RecordingHandler();
      client.get(REQUEST, second);
      mayAnswer.countDown();
      assertThat(first.awaitFailure()).hasMessageContaining("answered");
      assertThat(second.awaitFailure()).hasMessageContaining("answered");
      client.threads.setThreadFactory(usual);
    }
  }

  @Test
  void anErrorWithinTheBodyDropsTheConnection() throws Exception {
    AtomicInteger aborts = new AtomicInteger();
    InputStream body =
        new InputStream() {
          @Override
          public int read() {
            throw new NoClassDefFoundError("Missing");
          }
        };
    RecordingHandler handler = new RecordingHandler();
    try (ObjectClient client = client(request -> answer(body, aborts::incrementAndGet))) {
      client.get(REQUEST, handler);
      assertThat(handler.awaitFailure()).hasRootCauseInstanceOf(NoClassDefFoundError.class);
      awaitTrue("the connection is dropped", () -> aborts.get() == 1);
    }
  }

  private static ResponseInputStream<GetObjectResponse> answer(InputStream body, Runnable abort) {
    GetObjectResponse head =
        (GetObjectResponse)
            GetObjectResponse.builder()
                .contentLength(10L)
                .contentRange("bytes 0-9/10")
                .eTag("\"v1\"")
                .sdkHttpResponse(SdkHttpResponse.builder().statusCode(206).build())
                .build();
    return new ResponseInputStream<>(head, AbortableInputStream.create(body, abort::run));
  }

  /** It is nothing that the store has said: no reason to slow down, or to say so. */
  @Test
  void aGetBehindCancelledOnesIsSentOnceThereIsAThread() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayAnswer = new CountDownLatch(1);
    AtomicInteger sent = new AtomicInteger();
    Store store =
        request -> {
          sent.incrementAndGet();
          begun.countDown();
          try {
            assertThat(mayAnswer.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          return answer(InputStream.nullInputStream(), () -> {});
        };
    try (ObjectClient client = client(store)) {
      RecordingHandler hanging = new RecordingHandler();
      ObjectClient.Exchange first = client.get(REQUEST, hanging);
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      RecordingHandler waiting = new RecordingHandler();
      ObjectClient.Exchange second = client.get(REQUEST, waiting);
      first.cancel();
      second.cancel();
      assertThat(hanging.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
      assertThat(waiting.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
      RecordingHandler third = new RecordingHandler();
      client.get(REQUEST, third);
      mayAnswer.countDown();
      assertThat(third.awaitFailure()).hasMessageContaining("0 of 10 bytes");
      assertThat(sent).as("not the one that was cancelled in the queue").hasValue(2);
    }
  }

  @Test
  void whatACredentialsServiceRefusesIsNoAnswerOfTheStore() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    try (ObjectClient client = client(request -> resolveCredentials())) {
      client.get(REQUEST, handler);
      assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CREDENTIALS);
    }
  }

  /** Named as the method of a provider that the SDK calls. */
  private static ResponseInputStream<GetObjectResponse> resolveCredentials() {
    throw S3Exception.builder().statusCode(403).message("not allowed to assume the role").build();
  }
}
