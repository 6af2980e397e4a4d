// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * The codecs that footers of ORC files are compressed with. Zlib comes with the JDK. Snappy, LZ4
 * and Zstandard come from aircompressor where a class loader has it, as that of every ORC reader
 * has; it is called by name, so that nobody else needs it. LZO and what came later is unknown.
 */
record OrcCodecs(ClassLoader loader) {
  interface Codec {
    /**
     * Decompresses {@code length} bytes from {@code from} on.
     *
     * @return how many bytes of {@code target} are filled
     * @throws MalformedException if the chunk is damaged or has more than {@code target} holds
     */
    int decompress(byte[] source, int from, int length, byte[] target) throws MalformedException;
  }

  private static final int ZLIB = 1;
  private static final int SNAPPY = 2;
  private static final int LZ4 = 4;
  private static final int ZSTD = 5;

  /** Versions of aircompressor in which a damaged chunk may crash the JVM: CVE-2024-36114. */
  private static final String UNSAFE = "0\\.(1?\\d|2[0-6])(\\D.*)?";

  /** The codec of that number in a postscript, which is not 0; null if it is not to be had. */
  @Nullable Codec codec(int kind) {
    return switch (kind) {
      case ZLIB -> OrcCodecs::inflate;
      case SNAPPY -> byName("io.airlift.compress.snappy.SnappyDecompressor");
      case LZ4 -> byName("io.airlift.compress.lz4.Lz4Decompressor");
      case ZSTD -> byName("io.airlift.compress.zstd.ZstdDecompressor");
      default -> null;
    };
  }

  private static int inflate(byte[] source, int from, int length, byte[] target)
      throws MalformedException {
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(source, from, length);
      int done = 0;
      while (!inflater.finished()) {
        int count = inflater.inflate(target, done, target.length - done);
        if (count == 0 && !inflater.finished()) {
          throw new MalformedException("zlib: cut off, or longer than its file allows");
        }
        done += count;
      }
      return done;
    } catch (DataFormatException e) {
      throw new MalformedException("zlib: " + e.getMessage());
    } finally {
      inflater.end();
    }
  }

  /** A class of aircompressor, or one with the same method; null if there is none. */
  @Nullable Codec byName(String name) {
    try {
      Class<?> type = Class.forName(name, true, loader);
      String version = type.getPackage().getImplementationVersion();
      if (version != null && version.matches(UNSAFE)) {
        return null;
      }
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      Object made = type.getConstructor().newInstance();
      MethodType shape =
          MethodType.methodType(
              int.class, byte[].class, int.class, int.class, byte[].class, int.class, int.class);
      MethodHandle method = lookup.findVirtual(type, "decompress", shape).bindTo(made);
      return (source, from, length, target) -> call(method, source, from, length, target);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  @SuppressWarnings("IllegalCatch")
  private static int call(MethodHandle method, byte[] source, int from, int length, byte[] target)
      throws MalformedException {
    int count;
    try {
      count = (int) method.invokeExact(source, from, length, target, 0, target.length);
    } catch (Throwable e) {
      throw new MalformedException("not to be decompressed: " + e);
    }
    if (count < 0 || count > target.length) {
      throw new MalformedException(count + " bytes decompressed where " + target.length + " fit");
    }
    return count;
  }
}
