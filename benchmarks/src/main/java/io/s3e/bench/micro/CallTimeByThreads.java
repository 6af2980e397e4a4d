// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Threads;

/** Measures the time of one call while so many threads make it and do nothing else. */
public abstract class CallTimeByThreads extends CallTime {
  /** The call. */
  abstract boolean call();

  @Benchmark
  @Threads(1)
  public boolean threads01() {
    return call();
  }

  @Benchmark
  @Threads(2)
  public boolean threads02() {
    return call();
  }

  @Benchmark
  @Threads(4)
  public boolean threads04() {
    return call();
  }

  @Benchmark
  @Threads(8)
  public boolean threads08() {
    return call();
  }

  @Benchmark
  @Threads(16)
  public boolean threads16() {
    return call();
  }
}
