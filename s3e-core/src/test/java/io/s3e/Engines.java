// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;

/** The JVM's engine, for tests that begin with one that knows nothing. */
public final class Engines {
  /** A budget that no test asks for. */
  private static final long NOBODYS_BYTES = 12_345_678;

  private Engines() {}

  /** Ends an engine that waits for tenants; nothing happens while there are some. */
  public static void endIdle() {
    Engine.endIdle(idle -> true);
  }

  /**
   * Waits until the next tenant's engine is one of its own. File systems that are closed before
   * they have made theirs, or were forgotten, leave it a moment later, on other threads.
   */
  public static void awaitNone() throws InterruptedException {
    awaitTrue("no engine has a tenant", Engines::isNone);
  }

  private static boolean isNone() {
    endIdle();
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().memoryBytes(NOBODYS_BYTES).build();
    try (EngineHold hold = EngineHold.of(config)) {
      return hold.engine.budget.limit() == config.effectiveMemoryBytes();
    } finally {
      endIdle();
    }
  }
}
