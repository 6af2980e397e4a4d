// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;

/**
 * Many Parquet files of one row group of 256 KiB to 4 MiB each, every size as likely as any other,
 * one behind the other in one local file. As objects they are files of their own.
 */
public final class ParquetPack {

  private static final int LEAST_BYTES = 256 << 10;
  private static final int MOST_BYTES = 4 << 20;
  private static final long SEED = 20_240_601;

  private ParquetPack() {}

  /** What so many files hold, footers apart. */
  public static long textBytes(int count) {
    return sizes(count).stream().mapToLong(Integer::longValue).sum();
  }

  private static List<Integer> sizes(int count) {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Integer> sizes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      sizes.add(random.nextInt(LEAST_BYTES, MOST_BYTES + 1));
    }
    return sizes;
  }

  /**
   * Writes the files.
   *
   * @param pack the local file
   * @param directory URI that the objects' names begin with, with a slash at its end
   * @param progress told how many bytes are written, now and then
   * @return where each of them lies in the local file
   */
  public static List<ObjectSlice> write(
      Path pack, String directory, int count, LongConsumer progress) throws IOException {
    Path text = pack.resolveSibling(pack.getFileName() + ".text");
    Path one = pack.resolveSibling(pack.getFileName() + ".one");
    List<ObjectSlice> objects = new ArrayList<>(count);
    try (FileChannel out =
        FileChannel.open(pack, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      LineItemText.write(text, textBytes(count), written -> {});
      long from = 0;
      for (int size : sizes(count)) {
        TextParquet.oneGroup(size).write(one, text, from, written -> {});
        String uri = "%spart-%05d.parquet".formatted(directory, objects.size());
        objects.add(new ObjectSlice(uri, 0, Files.size(one), out.size()));
        append(one, out);
        from += size;
        progress.accept(from);
      }
    } finally {
      Files.deleteIfExists(text);
      Files.deleteIfExists(one);
    }
    return objects;
  }

  private static void append(Path file, FileChannel out) throws IOException {
    try (FileChannel in = FileChannel.open(file)) {
      for (long done = 0; done < in.size(); ) {
        done += in.transferTo(done, in.size() - done, out);
      }
    }
  }
}
