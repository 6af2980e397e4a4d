package io.s3e.bench.raw;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** The SDK's asynchronous client: the sink sees the chunks that the SDK publishes, uncopied. */
final class AsyncRawClient implements RawClient {

  private final S3AsyncClient s3;

  /**
   * @param s3 closed with this client
   */
  AsyncRawClient(S3AsyncClient s3) {
    this.s3 = s3;
  }

  @Override
  public CompletableFuture<Void> get(ObjectRef object, ByteRange range, ByteSink sink) {
    return s3.getObject(
        request -> request.bucket(object.bucket()).key(object.key()).range(range.httpHeader()),
        new ToSink(new RangeSink(range, sink)));
  }

  @Override
  public void close() {
    s3.close();
  }

  /** Takes as many chunks as come: the sink is faster than any network. */
  private static final class ToSink implements AsyncResponseTransformer<GetObjectResponse, Void> {
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final RangeSink sink;

    ToSink(RangeSink sink) {
      this.sink = sink;
    }

    @Override
    public CompletableFuture<Void> prepare() {
      return done;
    }

    @Override
    public void onResponse(GetObjectResponse response) {
      // The bytes say whether they are the right ones.
    }

    @Override
    public void onStream(SdkPublisher<ByteBuffer> publisher) {
      publisher.subscribe(new Chunks(sink, done));
    }

    @Override
    public void exceptionOccurred(Throwable error) {
      done.completeExceptionally(error);
    }
  }

  private static final class Chunks implements Subscriber<ByteBuffer> {
    private final RangeSink sink;
    private final CompletableFuture<Void> done;
    private @Nullable Subscription subscription;

    Chunks(RangeSink sink, CompletableFuture<Void> done) {
      this.sink = sink;
      this.done = done;
    }

    @Override
    public void onSubscribe(Subscription given) {
      subscription = given;
      given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuffer chunk) {
      try {
        sink.accept(chunk);
      } catch (IOException e) {
        done.completeExceptionally(e);
        if (subscription != null) {
          subscription.cancel();
        }
      }
    }

    @Override
    public void onError(Throwable error) {
      done.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      try {
        sink.checkComplete();
        done.complete(null);
      } catch (IOException e) {
        done.completeExceptionally(e);
      }
    }
  }
}
