// SPDX-License-Identifier: Apache-2.0
package io.s3e;

/** The JVM's engine, for tests that begin with one that knows nothing. */
public final class Engines {
  private Engines() {}

  /** Ends an engine that waits for tenants; nothing happens while there are some. */
  public static void endIdle() {
    Engine.endIdle(idle -> true);
  }
}
