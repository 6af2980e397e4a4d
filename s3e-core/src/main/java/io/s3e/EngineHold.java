// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps the JVM's engine open while nobody reads: its memory, connections and cache on local disk
 * outlive the tenants, which come and go. A framework that knows when its process ends takes one at
 * the start, with the settings of the whole application, and closes it at the end. Any thread.
 */
public final class EngineHold implements AutoCloseable {
  final Engine engine;
  private final AtomicBoolean closed = new AtomicBoolean();

  private EngineHold(Engine engine) {
    this.engine = engine;
  }

  /**
   * Holds the JVM's engine; makes it if there is none, with the memory budget and the block size of
   * {@code config}.
   *
   * @throws IllegalStateException if the budget has fewer than two blocks
   */
  public static EngineHold of(S3EConfig config) {
    return new EngineHold(Engine.join(config));
  }

  /** Lets go; the engine ends after its last tenant. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      engine.leave();
    }
  }
}
