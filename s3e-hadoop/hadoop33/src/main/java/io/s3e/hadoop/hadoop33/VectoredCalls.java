// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import io.s3e.block.ByteRange;
import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.PositionedReadable;

/**
 * Vectored reads as Hadoop 3.3.5 and 3.3.6 have them, by method handles: this package is compiled
 * against 3.3.4, which has none of their types. Only a caller that has a range of Hadoop's may load
 * this class. Stateless.
 */
final class VectoredCalls {
  private static final MethodHandle OFFSET;
  private static final MethodHandle LENGTH;
  private static final MethodHandle SET_DATA;
  private static final MethodHandle READ_VECTORED;
  private static final MethodHandle MIN_SEEK;
  private static final MethodHandle MAX_READ_SIZE;

  static {
    try {
      Class<?> stream = PositionedReadable.class;
      Class<?> range =
          Class.forName("org.apache.hadoop.fs.FileRange", false, stream.getClassLoader());
      OFFSET = handle(range, "getOffset", long.class);
      LENGTH = handle(range, "getLength", int.class);
      SET_DATA = handle(range, "setData", void.class, CompletableFuture.class);
      READ_VECTORED = handle(stream, "readVectored", void.class, List.class, IntFunction.class);
      MIN_SEEK = handle(stream, "minSeekForVectorReads", int.class);
      MAX_READ_SIZE = handle(stream, "maxReadSizeForVectorReads", int.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("vectored reads of Hadoop 3.3", e);
    }
  }

  private VectoredCalls() {}

  private static MethodHandle handle(
      Class<?> type, String name, Class<?> result, Class<?>... parameters)
      throws ReflectiveOperationException {
    return MethodHandles.publicLookup()
        .findVirtual(type, name, MethodType.methodType(result, parameters));
  }

  /**
   * The bytes of a range.
   *
   * @throws EOFException if its offset is negative
   * @throws IllegalArgumentException if its length is
   */
  static ByteRange bytes(Object range) throws IOException {
    long offset = (long) call(OFFSET, range);
    int length = (int) call(LENGTH, range);
    if (length < 0) {
      throw new IllegalArgumentException("length is negative in " + range);
    }
    if (offset < 0) {
      throw new EOFException("position is negative in range " + range);
    }
    return ByteRange.ofLength(offset, length);
  }

  static void setData(Object range, CompletableFuture<ByteBuffer> data) throws IOException {
    call(SET_DATA, range, data);
  }

  static void readVectored(
      PositionedReadable stream, List<?> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    call(READ_VECTORED, stream, ranges, allocate);
  }

  static int minSeek(PositionedReadable stream) throws IOException {
    return (int) call(MIN_SEEK, stream);
  }

  static int maxReadSize(PositionedReadable stream) throws IOException {
    return (int) call(MAX_READ_SIZE, stream);
  }

  // A method handle may throw anything.
  @SuppressWarnings("IllegalCatch")
  private static Object call(MethodHandle method, Object... arguments) throws IOException {
    try {
      return method.invokeWithArguments(arguments);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IOException(e);
    }
  }
}
