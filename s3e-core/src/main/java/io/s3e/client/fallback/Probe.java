package io.s3e.client.fallback;

import io.s3e.client.LentBuffer;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** Reads an answer to its end, keeps nothing of it, and tells whether the store was reached. */
final class Probe implements ResponseHandler {
  enum Outcome {
    /** The body came whole, or the store refused the request. */
    REACHED,
    /** No answer, or only a part of one. */
    LOST
  }

  private final Consumer<Outcome> ended;

  Probe(Consumer<Outcome> ended) {
    this.ended = ended;
  }

  @Override
  public void onHead(ResponseHead head) {}

  @Override
  public void onData(ByteBuffer chunk) {
    chunk.position(chunk.limit());
  }

  @Override
  public void onLent(LentBuffer buffer) {
    buffer.close();
  }

  @Override
  public void onDone() {
    ended.accept(Outcome.REACHED);
  }

  @Override
  public void onFailure(RequestFailure failure) {
    ended.accept(failure.answer() != null ? Outcome.REACHED : Outcome.LOST);
  }
}
