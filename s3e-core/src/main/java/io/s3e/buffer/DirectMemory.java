// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct byte buffers that are freed by call: from Java {@value #JAVA_OF_ARENAS} on each by a
 * shared {@code java.lang.foreign.Arena} of its own, which no collection frees; before by {@code
 * sun.misc.Unsafe.invokeCleaner}, of which newer JVMs warn and which they refuse in the end. Where
 * there is neither, memory goes when the collector finds the buffer unreachable, which may be later
 * than the budget was told.
 *
 * <p>The limit of direct memory ({@code -XX:MaxDirectMemorySize}) is the whole JVM's, arenas not
 * among it, and an application may have taken all of it. Buffers then come from the heap, up to a
 * {@value #HEAP_SHARE}th of it in all, so that reads go on: one WARN line says so. A refusal costs
 * a full collection and about half a second inside the JDK, so the JVM is left alone for {@value
 * #REFUSAL_PAUSE_SECONDS} s after each. Any thread.
 */
final class DirectMemory implements ArenaMemory {
  static final DirectMemory INSTANCE = new DirectMemory();

  private static final Logger LOG = LoggerFactory.getLogger(DirectMemory.class);
  private static final int JAVA_OF_ARENAS = 22;
  private static final int HEAP_SHARE = 16;
  private static final int REFUSAL_PAUSE_SECONDS = 10;

  /** Written once, below. Make an arena, and a buffer of so many bytes in one, from Java 22 on. */
  private static @Nullable MethodHandle newArena;

  private static @Nullable MethodHandle allocate;

  /** Written once, below; before Java 22. */
  private static @Nullable MethodHandle invokeCleaner;

  static {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    try {
      if (Runtime.version().feature() >= JAVA_OF_ARENAS) {
        Class<?> arena = Class.forName("java.lang.foreign.Arena");
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        newArena = lookup.findStatic(arena, "ofShared", methodType(arena));
        allocate =
            MethodHandles.filterReturnValue(
                lookup.findVirtual(arena, "allocate", methodType(segment, long.class)),
                lookup.findVirtual(segment, "asByteBuffer", methodType(ByteBuffer.class)));
      } else {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field theUnsafe = unsafe.getDeclaredField("theUnsafe");
        theUnsafe.setAccessible(true);
        invokeCleaner =
            lookup
                .findVirtual(unsafe, "invokeCleaner", methodType(void.class, ByteBuffer.class))
                .bindTo(theUnsafe.get(null));
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.info("Direct memory is freed by the garbage collector: {}", e.toString());
    }
  }

  private final AtomicLong heapBytes = new AtomicLong();
  private final AtomicBoolean warned = new AtomicBoolean();
  private final Map<ByteBuffer, AutoCloseable> arenas =
      Collections.synchronizedMap(new IdentityHashMap<>());

  /** By {@link System#nanoTime()}; the JVM is not asked for direct memory before. */
  private volatile long askAgainNanos = System.nanoTime();

  private DirectMemory() {}

  @Override
  public ByteBuffer allocate(int bytes) {
    if (System.nanoTime() - askAgainNanos < 0) {
      return onHeap(bytes, null);
    }
    try {
      return offHeap(bytes);
    } catch (OutOfMemoryError refusal) {
      askAgainNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(REFUSAL_PAUSE_SECONDS);
      if (warned.compareAndSet(false, true)) {
        LOG.warn(
            "The JVM has no direct memory left; buffers come from the heap now, which is slower, up"
                + " to a sixteenth of it, and reads go on with less after that. Raise"
                + " -XX:MaxDirectMemorySize or lower the memory budget (fs.s3a.s3e.memory.budget"
                + " under Hadoop): {}",
            refusal.toString());
      }
      return onHeap(bytes, refusal);
    }
  }

  private ByteBuffer offHeap(int bytes) {
    if (newArena == null || allocate == null) {
      return ByteBuffer.allocateDirect(bytes);
    }
    try {
      AutoCloseable arena = (AutoCloseable) newArena.invoke();
      ByteBuffer buffer = (ByteBuffer) allocate.invoke(arena, (long) bytes);
      arenas.put(buffer, arena);
      return buffer;
    } catch (Throwable e) {
      throw unchecked(e, "no direct buffer of " + bytes + " bytes could be made");
    }
  }

  private ByteBuffer onHeap(int bytes, @Nullable OutOfMemoryError refusal) {
    long share = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    if (heapBytes.get() + bytes > share) {
      throw refusal != null
          ? refusal
          : new OutOfMemoryError("no direct memory, and its part of the heap is used up");
    }
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    // Counted once it is there: the heap may have nothing, either.
    heapBytes.addAndGet(bytes);
    return buffer;
  }

  @Override
  public void free(ByteBuffer memory) {
    if (!memory.isDirect()) {
      heapBytes.addAndGet(-memory.capacity());
      return;
    }
    AutoCloseable arena = arenas.remove(memory);
    try {
      if (arena != null) {
        arena.close();
      } else if (invokeCleaner != null) {
        invokeCleaner.invokeExact(memory);
      }
    } catch (Throwable e) {
      throw unchecked(e, "a direct buffer could not be freed: " + memory);
    }
  }

  private static RuntimeException unchecked(Throwable e, String message) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(message, e);
  }
}
