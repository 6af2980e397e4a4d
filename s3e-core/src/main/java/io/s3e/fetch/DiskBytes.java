// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.disk.DiskRead;
import java.util.Map;

/**
 * Bytes of one read that come from disk into the reader's own memory, as the tenant counts them.
 * The reader waits for them on its thread, or is told of their end; either way it calls {@link
 * #end}, once.
 */
public final class DiskBytes {
  private final Tenant tenant;
  private final DiskTier disk;
  private final ObjectHandle handle;
  final DiskRead read;
  private final int wanted;
  private final long beganNanos = System.nanoTime();

  /** When the reader's wait was over, but for pauses of the JVM; 0 while it is not. */
  private volatile long overNanos;

  /** The reads that the tenant's clock looks at, with what ends the wait for each. */
  private final Map<DiskBytes, Runnable> watched;

  DiskBytes(
      Tenant tenant,
      DiskTier disk,
      ObjectHandle handle,
      DiskRead read,
      int wanted,
      Map<DiskBytes, Runnable> watched) {
    this.tenant = tenant;
    this.disk = disk;
    this.handle = handle;
    this.read = read;
    this.wanted = wanted;
    this.watched = watched;
  }

  /** Waits until the bytes are there, or the disk is left to itself. */
  public void await() {
    long pausedNanos = read.await();
    overNanos = System.nanoTime() - pausedNanos | 1;
  }

  /** Runs {@code then} once the bytes are there, or the disk is left to itself: on any thread. */
  public void whenOver(Runnable then) {
    Runnable over =
        () -> {
          watched.remove(this);
          overNanos = System.nanoTime() | 1;
          then.run();
        };
    watched.put(this, over);
    read.whenOver(over);
    if (tenant.isClosed()) {
      over.run();
    }
  }

  /** Nothing more comes; how many bytes have come, from the first on. */
  public int end() {
    int count = read.end();
    // Not before: a callback of a read that is over will not come to do so.
    watched.remove(this);
    long over = overNanos;
    if (over != 0) {
      disk.speed.onDisk(count, wanted, over - beganNanos, over);
    }
    handle.progress.onDisk(count);
    disk.taken(handle, count, count == wanted);
    return count;
  }
}
