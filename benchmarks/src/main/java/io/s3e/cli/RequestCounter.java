// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/** Counts what an SDK client sends. Any thread. */
final class RequestCounter implements ExecutionInterceptor {
  private static final ExecutionAttribute<Boolean> SENT = new ExecutionAttribute<>("s3e.sent");

  private final LongAdder requests = new LongAdder();
  private final LongAdder retries = new LongAdder();

  @Override
  public void beforeTransmission(
      Context.BeforeTransmission context, ExecutionAttributes attributes) {
    requests.increment();
    if (attributes.getAttribute(SENT) == null) {
      attributes.putAttribute(SENT, true);
    } else {
      retries.increment();
    }
  }

  /** Requests sent, retries included. */
  long requests() {
    return requests.sum();
  }

  /** Requests sent again after a failure. */
  long retries() {
    return retries.sum();
  }
}
