package io.s3e.jvm;

import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory that all engines of this JVM hold, as operators see it, and the way by which an engine
 * of another class loader joins. Only types of the JDK, since the caller may know S3E's classes by
 * another loader.
 */
public interface MemoryAccountMBean {
  /** The most that all engines may hold together, in bytes. */
  long getLimit();

  /** Bytes that the engines hold now: native memory of connections and pooled buffers. */
  long getReserved();

  /** Bytes of that in pooled buffers, which engines give back to each other. */
  long getPooled();

  /** How many engines there are: one for each class loader that reads. */
  int getEngines();

  /**
   * One engine more. Not for remote callers, to whom the answer cannot be sent.
   *
   * @param giveBack frees about so many bytes of pooled buffers, as far as nothing needs them now;
   *     called on other engines' threads
   * @param pooled bytes that the engine's pooled buffers hold
   * @return the functions of {@link MemoryShare} by name; null if the last engine has just left
   */
  @Nullable Map<String, Object> join(LongConsumer giveBack, LongSupplier pooled);
}
