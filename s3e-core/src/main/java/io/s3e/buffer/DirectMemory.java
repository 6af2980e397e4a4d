package io.s3e.buffer;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct byte buffers that are freed by call. The JDK 17 has no public way to free one before its
 * collection, so this goes through {@code sun.misc.Unsafe.invokeCleaner} of the module {@code
 * jdk.unsupported}. Where that is missing, memory goes when the collector finds the buffer
 * unreachable, which may be later than the budget was told.
 *
 * <p>The limit of direct memory ({@code -XX:MaxDirectMemorySize}) is the whole JVM's, and an
 * application may have taken all of it. Buffers then come from the heap, up to a {@value
 * #HEAP_SHARE}th of it in all, so that reads go on: one WARN line says so. A refusal costs a full
 * collection and about half a second inside the JDK, so the JVM is left alone for {@value
 * #REFUSAL_PAUSE_SECONDS} s after each. Any thread.
 */
final class DirectMemory implements ArenaMemory {
  static final DirectMemory INSTANCE = new DirectMemory();

  private static final Logger LOG = LoggerFactory.getLogger(DirectMemory.class);
  private static final @Nullable MethodHandle INVOKE_CLEANER = findInvokeCleaner();
  private static final int HEAP_SHARE = 16;
  private static final int REFUSAL_PAUSE_SECONDS = 10;

  private final AtomicLong heapBytes = new AtomicLong();
  private final AtomicBoolean warned = new AtomicBoolean();

  /** By {@link System#nanoTime()}; the JVM is not asked for direct memory before. */
  private volatile long askAgainNanos = System.nanoTime();

  private DirectMemory() {}

  /** Whether {@link #free} frees at once. */
  static boolean freesAtOnce() {
    return INVOKE_CLEANER != null;
  }

  @Override
  public ByteBuffer allocate(int bytes) {
    if (System.nanoTime() - askAgainNanos < 0) {
      return onHeap(bytes, null);
    }
    try {
      return ByteBuffer.allocateDirect(bytes);
    } catch (OutOfMemoryError refusal) {
      askAgainNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(REFUSAL_PAUSE_SECONDS);
      ByteBuffer buffer = onHeap(bytes, refusal);
      if (warned.compareAndSet(false, true)) {
        LOG.warn(
            "The JVM has no direct memory left; buffers come from the heap now, which is slower."
                + " Raise -XX:MaxDirectMemorySize or lower the memory budget"
                + " (fs.s3a.s3e.memory.budget under Hadoop): {}",
            refusal.toString());
      }
      return buffer;
    }
  }

  private ByteBuffer onHeap(int bytes, @Nullable OutOfMemoryError refusal) {
    long share = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    if (heapBytes.addAndGet(bytes) > share) {
      heapBytes.addAndGet(-bytes);
      throw refusal != null
          ? refusal
          : new OutOfMemoryError("no direct memory, and its part of the heap is used up");
    }
    return ByteBuffer.allocate(bytes);
  }

  @Override
  public void free(ByteBuffer memory) {
    if (!memory.isDirect()) {
      heapBytes.addAndGet(-memory.capacity());
      return;
    }
    MethodHandle invokeCleaner = INVOKE_CLEANER;
    if (invokeCleaner == null) {
      return;
    }
    try {
      invokeCleaner.invokeExact(memory);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("a direct buffer could not be freed: " + memory, e);
    }
  }

  private static @Nullable MethodHandle findInvokeCleaner() {
    try {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field theUnsafe = unsafe.getDeclaredField("theUnsafe");
      theUnsafe.setAccessible(true);
      return MethodHandles.lookup()
          .findVirtual(unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
          .bindTo(theUnsafe.get(null));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.info(
          "Direct memory is freed by the garbage collector, because sun.misc.Unsafe.invokeCleaner"
              + " is not available: {}",
          e.toString());
      return null;
    }
  }
}
