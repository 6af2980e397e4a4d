// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.columnar.Replay.Split;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints what the planners make of recordings: {@code main NAME…}. */
final class RecordingsTable {
  private RecordingsTable() {}

  static Map<String, RecordedFiles.File> files() {
    Map<String, RecordedFiles.File> files = new HashMap<>();
    files.put("lineitem.parquet", RecordedFiles.lineitem());
    files.put("wide.parquet", RecordedFiles.parquet("wide"));
    files.put("lineitem.orc", RecordedFiles.orc());
    return files;
  }

  static Map<String, RecordedFiles.File> parts(String table) {
    Map<String, RecordedFiles.File> files = new HashMap<>();
    for (int i = 0; i < (table.equals("small") ? 6 : 4); i++) {
      String part = "part-0000" + i;
      files.put(part + ".parquet", RecordedFiles.parquetLike(table + "-" + part));
    }
    return files;
  }

  static Replay replay(String name, ColumnarMode mode, Split split, LayoutMemory memory) {
    return replay(name, "", mode, split, memory);
  }

  /**
   * @param prefix of the files' names: others of the same tables
   */
  static Replay replay(
      String name, String prefix, ColumnarMode mode, Split split, LayoutMemory memory) {
    Map<String, RecordedFiles.File> files =
        name.contains("_small")
            ? parts("small")
            : name.contains("_table") ? parts("table") : files();
    return new Replay(memory, mode, split, splitOf(name), files)
        .ofFiles(prefix)
        .play(Recording.of(name));
  }

  /** The memory of an engine that has seen other files of the same tables. */
  static LayoutMemory memoryOfLikeFiles(String name) {
    LayoutMemory memory = new LayoutMemory();
    files()
        .forEach(
            (file, end) -> {
              if (name.contains("wide") == file.contains("wide")) {
                memory
                    .place(new ObjectRef("bucket", "table/" + file))
                    .tails()
                    .footer(end.last().length, end.size());
              }
            });
    return memory;
  }

  static @Nullable ByteRange splitOf(String name) {
    long size = name.startsWith("orc") ? 21837123 : 22070665;
    if (name.endsWith("split2of4")) {
      return new ByteRange(size / 4, size / 2);
    }
    return name.endsWith("split2of2") ? new ByteRange(size / 2, size) : null;
  }

  public static void main(String[] names) {
    System.out.println("recording | before: fetches, ms, ratio | split known | split unknown");
    for (String name : names) {
      StringBuilder line = new StringBuilder("%-32s".formatted(name));
      append(line, replay(name, ColumnarMode.OFF, Split.UNKNOWN, new LayoutMemory()));
      append(line, replay(name, ColumnarMode.AUTO, Split.KNOWN, memoryOfLikeFiles(name)));
      append(line, replay(name, ColumnarMode.AUTO, Split.UNKNOWN, memoryOfLikeFiles(name)));
      System.out.println(line);
      if (names.length == 1) {
        replay(name, ColumnarMode.AUTO, Split.KNOWN, new LayoutMemory())
            .log
            .forEach(System.out::println);
      }
    }
  }

  private static void append(StringBuilder line, Replay replay) {
    line.append(
        " | %2d %5.0f %5.2f %4d %3d"
            .formatted(
                replay.dependent,
                replay.blockedMillis(),
                replay.overFetch(),
                replay.fetchedBlocks(),
                replay.requests));
  }
}
