package io.s3e.client.crt;

import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.http.HttpHeader;

/**
 * An unsigned HEAD, which the store refuses whatever the time: all that counts is the {@code Date}
 * of its answer.
 */
final class CrtTime extends CrtCall {
  private final ObjectRef object;
  private final Consumer<@Nullable StoreAnswer> told;

  // Touched by the CRT's callbacks only, one at a time.
  private @Nullable StoreAnswer answer;

  /**
   * @param told hears the answer, or null if none came
   */
  CrtTime(ObjectRef object, Consumer<@Nullable StoreAnswer> told, Owner owner) {
    super(owner);
    this.object = object;
    this.told = told;
  }

  @Override
  public void onResponseHeaders(int responseStatus, HttpHeader[] headers) {
    answer = StoreAnswer.of(responseStatus, CrtHeaders.asMap(headers), "");
  }

  @Override
  protected @Nullable RequestFailure outcome(@Nullable RequestFailure failure) {
    return failure;
  }

  @Override
  protected void ended(@Nullable RequestFailure failure) {
    StoreAnswer refused = failure == null ? null : failure.answer();
    told.accept(refused == null ? answer : refused);
  }

  /** Has no body that could break off. */
  @Override
  protected @Nullable StoreAnswer begun() {
    return null;
  }

  @Override
  protected ObjectRef object() {
    return object;
  }

  @Override
  protected String subject() {
    return "unsigned HEAD " + object;
  }
}
