package io.s3e.buffer;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Direct byte buffers that are freed by call. The JDK 17 has no public way to free one before its
 * collection, so this goes through {@code sun.misc.Unsafe.invokeCleaner} of the module {@code
 * jdk.unsupported}. Where that is missing, memory goes when the collector finds the buffer
 * unreachable, which may be later than the budget was told.
 */
final class DirectMemory implements SlabMemory {
  static final DirectMemory INSTANCE = new DirectMemory();

  private static final Logger LOG = LoggerFactory.getLogger(DirectMemory.class);
  private static final @Nullable MethodHandle INVOKE_CLEANER = findInvokeCleaner();

  private DirectMemory() {}

  /** Whether {@link #free} frees at once. */
  static boolean freesAtOnce() {
    return INVOKE_CLEANER != null;
  }

  @Override
  public ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocateDirect(bytes);
  }

  @Override
  public void free(ByteBuffer memory) {
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
