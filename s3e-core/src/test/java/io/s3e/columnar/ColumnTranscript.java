// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.EngineMetrics;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.PlannerText;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plays a program of reads of a Parquet file against the planner of its stream and writes down what
 * it answers, as byte ranges. The file has groups of four columns; chunk c of group g is the
 * mebibyte 4 g + c, its dictionary page the first 64 KiB of that. Bloom filters of 64 KiB follow,
 * then indexes of 1 KiB each, then the footer. Steps:
 *
 * <pre>
 * vectored 0 1 3       -> fetch [5M,6M) [7M,8M)     columns 1 and 3 of group 0
 * chunk 0 1            all of a chunk, by a seek
 * pages 0 1            the second quarter of a chunk, by a seek
 * dictionary 0 1, bloom 0 1, index 0 1
 * read 5000 6000       bytes, whatever they are
 * </pre>
 *
 * and {@code stall}, {@code look}, {@code refuse N} (what was started last, from its run N on),
 * {@code lose N} (likewise: it did not come), {@code limit BYTES RUNS}, {@code reset}, {@code
 * reopen} (another stream of another file of the table), {@code split FROM TO} (of those that are
 * opened next, in groups), {@code describe}, {@code counters} (all bytes that were counted for all
 * streams, in KiB).
 */
final class ColumnTranscript {
  static final int BLOCK = 256 << 10;
  private static final int COLUMNS = 4;
  private static final long MIB = 1 << 20;
  private static final long FILTER = 64 << 10;
  private static final long INDEX = 1 << 10;

  private final LayoutMemory memory = new LayoutMemory();
  private final FileLayout file;
  private final BlockLayout blocks;
  private @Nullable ByteRange split;
  private final List<String> lines = new ArrayList<>();
  private final EngineMetrics counted = new EngineMetrics();
  private StreamPlanner planner;
  private Ahead ahead;
  private List<Starting> last = List.of();
  private BlockRange lastRead = new BlockRange(0, 0);
  private int opened;

  /**
   * @param splitGroups the groups of the split, from and to; none if it is not known
   */
  ColumnTranscript(int groups, int... splitGroups) {
    long data = groups * COLUMNS * MIB;
    int chunks = groups * COLUMNS;
    long footer = data + chunks * (FILTER + 2 * INDEX);
    try {
      LayoutBuilder builder = new LayoutBuilder(FileLayout.Format.PARQUET, footer, groups, COLUMNS);
      for (int chunk = 0; chunk < chunks; chunk++) {
        builder.chunk(chunk / COLUMNS, chunk % COLUMNS, chunk * MIB, MIB, FILTER);
        builder.layout.bloomFilters.set(chunk, data + chunk * FILTER, (int) FILTER);
        long indexes = data + chunks * FILTER;
        builder.layout.columnIndexes.set(chunk, indexes + chunk * INDEX, (int) INDEX);
        builder.layout.offsetIndexes.set(chunk, indexes + (chunks + chunk) * INDEX, (int) INDEX);
      }
      for (int group = 0; group < groups; group++) {
        builder.layout.groupMark[group] = (group * COLUMNS + COLUMNS / 2) * MIB;
      }
      builder.schema(1);
      file = builder.build();
    } catch (MalformedException e) {
      throw new AssertionError(e);
    }
    blocks = new BlockLayout(footer + 1000, BLOCK);
    split = splitGroups.length == 0 ? null : groups(splitGroups[0], splitGroups[1]);
    planner = open();
    ahead = new Ahead(blocks, counted::add);
  }

  private static ByteRange groups(int first, int end) {
    return new ByteRange(first * COLUMNS * MIB, end * COLUMNS * MIB);
  }

  /** Another file of the table was read before, these columns of it in more groups than one. */
  ColumnTranscript afterReadersOf(int... columns) {
    BitSet read = new BitSet();
    for (int column : columns) {
      read.set(column);
    }
    memory
        .table(new ObjectRef("bucket", "table/0"), file.schema)
        .remember(read, new TableMemory.Visit(BitSet.valueOf(new long[] {0b11}), true));
    return this;
  }

  private StreamPlanner open() {
    ObjectVersion version =
        ObjectVersion.identified(
            new ObjectRef("bucket", "table/" + opened++), blocks.objectSize(), "etag", null);
    memory.keep(version, file);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, 8 << 20);
    return new StreamPlanner(
        new ReadPlanner(blocks, ReadPolicy.ADAPTIVE, null, limits),
        blocks,
        limits,
        memory,
        null,
        version,
        () -> split,
        8 << 20,
        ClassLoader.getPlatformClassLoader(),
        ColumnarMode.AUTO,
        counted::add);
  }

  /** Plays the steps of {@code script}; what stands behind its arrows is ignored. */
  String play(String script) {
    for (String line : script.lines().toList()) {
      step(line.split("->")[0].strip());
    }
    return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  private void step(String step) {
    String[] words = step.split(" ");
    switch (words[0]) {
      case "vectored" -> {
        List<ByteRange> ranges = new ArrayList<>();
        for (int i = 2; i < words.length; i++) {
          ranges.add(file.chunk(number(words[1]), number(words[i])));
        }
        ranges.forEach(ahead::onRead);
        planner.onVectored(ranges, ranges);
        look(step);
      }
      case "split" -> {
        split = groups(number(words[1]), number(words[2]));
        lines.add(step);
      }
      case "chunk" -> read(step, file.chunk(number(words[1]), number(words[2])));
      case "pages" -> {
        long start = file.chunk(number(words[1]), number(words[2])).start() + MIB / 4;
        read(step, new ByteRange(start, start + MIB / 4));
      }
      case "dictionary" -> read(step, file.dictionary(number(words[1]), number(words[2])));
      case "bloom" -> read(step, file.bloomFilters.rangeOf(number(words[1]), number(words[2])));
      case "index" -> read(step, file.offsetIndexes.rangeOf(number(words[1]), number(words[2])));
      case "read" -> read(step, new ByteRange(Long.parseLong(words[1]), Long.parseLong(words[2])));
      case "stall" -> {
        planner.onStall(0);
        look(step);
      }
      case "look" -> look(step);
      case "refuse" -> {
        List<Starting> refused = last.subList(number(words[1]), last.size());
        refused.forEach(each -> lose(each.blocks()));
        planner.refused(refused, ahead);
        lines.add(step);
      }
      case "lose" -> {
        last.subList(number(words[1]), last.size()).forEach(each -> lose(each.blocks()));
        lines.add(step);
      }
      case "limit" -> {
        planner.limitWindow(number(words[1]) * MIB, number(words[2]), Integer.MAX_VALUE, ahead);
        lines.add(step);
      }
      case "reset" -> {
        planner.reset();
        look(step);
      }
      case "reopen" -> {
        planner.reset();
        look(step);
        planner = open();
        ahead = new Ahead(blocks, counted::add);
      }
      case "counters" -> lines.add(step + " -> " + counters());
      case "describe" -> lines.add(step + " -> " + describe());
      default -> throw new IllegalArgumentException("no such step: " + step);
    }
  }

  private String counters() {
    return counted.snapshot().entrySet().stream()
        .filter(each -> each.getValue() > 0)
        .map(each -> each.getKey() + " " + each.getValue() / 1024)
        .collect(Collectors.joining(", "))
        .replace("COLUMNAR_", "")
        .replace("_BYTES", "")
        .toLowerCase(Locale.ROOT);
  }

  private static int number(String word) {
    return Integer.parseInt(word);
  }

  private void read(String step, ByteRange range) {
    ahead.onRead(range);
    planner.onRead(range.start(), range.end(), range.end());
    lastRead = blocks.covering(range.start(), range.end());
    look(step);
  }

  private void lose(BlockRange run) {
    ahead.verify(block -> !run.contains(block));
  }

  private void look(String step) {
    Change change = ahead.look(planner.wish(), block -> false);
    List<Starting> starting = change.starting();
    starting.forEach(run -> ahead.started(run.blocks(), run.of()));
    if (!starting.isEmpty()) {
      last = starting;
    }
    String line = step + (change.equals(Change.NONE) ? "" : " ->");
    line +=
        starting.isEmpty() ? "" : " fetch" + runs(starting.stream().map(Starting::blocks).toList());
    line += change.dropped().isEmpty() ? "" : " abandon" + runs(change.dropped());
    boolean isAlong = change.alongFrom(lastRead) < lastRead.first();
    lines.add(line + (isAlong ? " along" : ""));
  }

  /** Adjacent runs as one, with their number. */
  private String runs(List<BlockRange> runs) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < runs.size(); ) {
      int first = i++;
      while (i < runs.size() && runs.get(i).first() == runs.get(i - 1).end()) {
        i++;
      }
      long start = blocks.startOf(runs.get(first).first());
      long end = blocks.endOf(runs.get(i - 1).end() - 1);
      text.append(" [%s,%s)".formatted(text(start), text(end)));
      text.append(i - first > 1 ? " in " + (i - first) : "");
    }
    return text.toString();
  }

  private static String text(long bytes) {
    if (bytes % MIB == 0) {
      return bytes / MIB + "M";
    }
    return bytes % 1024 == 0 ? bytes / 1024 + "K" : Long.toString(bytes);
  }

  /** What both planners are at, and the window of columns in bytes. */
  private String describe() {
    Wanted wanted = planner.wanted;
    long ahead = wanted.count() * blocks.blockSize();
    String text =
        state(planner.columns) + ", ahead " + ahead + " of " + wanted.window() * blocks.blockSize();
    boolean isColumnar = planner.isColumnar();
    return isColumnar ? text : PlannerText.of(planner.forward, blocks) + "; " + text;
  }

  /** Of an owned stream, whether groups that follow were asked for; and what file it reads. */
  private static String state(ColumnPlanner columns) {
    String owned = columns.following.hasOpened ? "FOLLOWING" : "COLUMNS";
    String other = columns.isForeign() ? "FOREIGN" : "READY";
    FileLayout file = columns.layout;
    return (columns.owns() ? owned : other)
        + (", " + file.format + " of " + file.groups + " groups, " + file.columns + " columns");
  }
}
