package io.s3e.fault;

import java.util.concurrent.ConcurrentHashMap;

/** The gates of an engine, by store and bucket. Any thread. */
public final class Gates {
  private record Key(Object store, String bucket) {}

  private final ConcurrentHashMap<Key, Gate> gates = new ConcurrentHashMap<>();
  private final Gate.Later later;

  public Gates(Gate.Later later) {
    this.later = later;
  }

  /**
   * The gate before a bucket.
   *
   * @param store names the endpoint; tenants with equal names share the gate
   */
  public Gate of(Object store, String bucket) {
    return gates.computeIfAbsent(new Key(store, bucket), key -> new Gate(later));
  }
}
