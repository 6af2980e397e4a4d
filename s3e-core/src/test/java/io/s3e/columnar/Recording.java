// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A recording of what a reader asked of its streams. The README beside the recordings tells of what
 * and how.
 */
record Recording(String name, List<Call> calls) {
  /** The kinds of calls that matter to planners. */
  enum Kind {
    OPEN,
    SEEK,
    READ,
    POSITIONED,
    VECTORED,
    CLOSE
  }

  /**
   * One call.
   *
   * @param file what is opened; empty for other calls
   * @param split what Spark said when the stream was opened; null if it said nothing
   * @param ranges what is read: one range, or those of a vectored read
   */
  record Call(
      Kind kind,
      String stream,
      String file,
      long size,
      boolean isVectoring,
      @Nullable ByteRange split,
      List<ByteRange> ranges) {}

  private static final Pattern SPLIT = Pattern.compile("sparkSplit=(\\d+)\\+(\\d+)");

  static Recording of(String name) {
    List<Call> calls = new ArrayList<>();
    for (String line : RecordedFiles.lines(name + ".tsv")) {
      String[] words = line.split("\t", -1);
      if (!line.startsWith("#") && words.length >= 9) {
        call(words, calls);
      }
    }
    return new Recording(name, calls);
  }

  private static void call(String[] words, List<Call> calls) {
    long offset = Long.parseLong(words[5]);
    long length = Long.parseLong(words[6]);
    String detail = words[8];
    switch (words[4].replace("*", "")) {
      case "open" -> {
        Matcher found = SPLIT.matcher(detail);
        ByteRange split =
            found.find()
                ? ByteRange.ofLength(Long.parseLong(found.group(1)), Long.parseLong(found.group(2)))
                : null;
        String file = detail.substring(0, detail.indexOf(' '));
        boolean vectors = detail.contains("read.policy=parquet");
        calls.add(new Call(Kind.OPEN, words[3], file, length, vectors, split, List.of()));
      }
      case "read", "readBB" -> add(Kind.READ, words, offset, length, calls);
      case "preadFully", "pread" -> add(Kind.POSITIONED, words, offset, length, calls);
      case "readVectored" -> {
        List<ByteRange> ranges = new ArrayList<>();
        for (String range : detail.isEmpty() ? new String[0] : detail.split(",")) {
          String[] parts = range.split("\\+");
          ranges.add(ByteRange.ofLength(Long.parseLong(parts[0]), Long.parseLong(parts[1])));
        }
        calls.add(new Call(Kind.VECTORED, words[3], "", 0, true, null, ranges));
      }
      case "close" -> calls.add(new Call(Kind.CLOSE, words[3], "", 0, false, null, List.of()));
      case "seek" -> add(Kind.SEEK, words, offset, 0, calls);
      case "getFileStatus" -> {}
      default -> throw new IllegalArgumentException("no such call: " + words[4]);
    }
  }

  private static void add(Kind kind, String[] words, long offset, long length, List<Call> calls) {
    List<ByteRange> range = List.of(ByteRange.ofLength(offset, length));
    calls.add(new Call(kind, words[3], "", 0, false, null, range));
  }
}
