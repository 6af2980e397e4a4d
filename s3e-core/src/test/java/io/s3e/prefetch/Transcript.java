// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plays a program of reads against a planner and writes down what a look at its wish finds. One
 * step a line, and what it finds after an arrow:
 *
 * <pre>
 * read 0 64K -> fetch [256K,8448K) in 8
 * stall 0
 * scan 64K 1M 64K
 *   at 256K -> fetch [8448K,16640K) in 4
 * </pre>
 *
 * {@code read OFFSET LENGTH}, {@code stall OFFSET}, {@code refuse OFFSET} (what was started by one
 * look, from there on), {@code lose START END} (blocks that are absent from then on), {@code look};
 * {@code along} stands where the first run goes along with the GET of the read itself, whose block
 * is absent; {@code scan FROM TO PIECE} (reads; those after which there is something to do are
 * listed), {@code limit BYTES [REQUESTS]}, {@code readahead BYTES}, {@code reset}, {@code
 * describe}. {@code in N} is the number of requests.
 */
final class Transcript {
  private final BlockLayout layout;
  private final ReadPlanner planner;
  private final List<String> lines = new ArrayList<>();
  private final Ahead ahead;
  private BlockRange lastRead = new BlockRange(0, 0);
  private final Deque<Change> changes = new ArrayDeque<>();

  Transcript(
      String size,
      int blockBytes,
      ReadPolicy policy,
      @Nullable ByteRange split,
      PrefetchLimits limits) {
    layout = new BlockLayout(bytes(size), blockBytes);
    planner = new ReadPlanner(layout, policy, split, limits);
    ahead = new Ahead(layout, (counter, amount) -> {});
  }

  /** Plays the steps of {@code script}; what stands behind its arrows is ignored. */
  String play(String script) {
    for (String line : script.lines().toList()) {
      if (!line.isBlank() && !line.startsWith(" ")) {
        step(line.split("->")[0].strip());
      }
    }
    return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  private void step(String step) {
    String[] words = step.split(" ");
    switch (words[0]) {
      case "read" -> read(step, bytes(words[1]), bytes(words[2]));
      case "stall" -> {
        planner.onStall(bytes(words[1]));
        look(step, false);
      }
      case "look" -> look(step, true);
      case "lose" -> {
        lose(layout.covering(bytes(words[1]), bytes(words[2])));
        lines.add(step);
      }
      case "scan" -> scan(step, bytes(words[1]), bytes(words[2]), bytes(words[3]));
      case "refuse" -> {
        refuse(layout.blockAt(bytes(words[1])));
        lines.add(step);
      }
      case "limit" -> {
        int requests = words.length > 2 ? Integer.parseInt(words[2]) : Integer.MAX_VALUE;
        planner.limitWindow(bytes(words[1]), requests, ahead);
        lines.add(step);
      }
      case "readahead" -> {
        planner.setMinimumReadahead(bytes(words[1]));
        lines.add(step);
      }
      case "reset" -> {
        planner.reset();
        look(step, false);
      }
      case "describe" -> lines.add(step + " -> " + PlannerText.of(planner, layout));
      default -> throw new IllegalArgumentException("no such step: " + step);
    }
  }

  private void scan(String step, long from, long to, long piece) {
    lines.add(step);
    for (long at = from; at < to; at += piece) {
      int before = lines.size();
      read("  at " + text(at), at, Math.min(piece, to - at));
      if (!lines.get(before).contains("->")) {
        lines.remove(before);
      }
    }
  }

  private void read(String step, long position, long length) {
    boolean isAbsent = !ahead.contains(position / layout.blockSize());
    ahead.onRead(ByteRange.ofLength(position, length));
    planner.onRead(position, length);
    lastRead = layout.covering(position, position + length);
    look(step, isAbsent);
  }

  /** Blocks that nobody has but this reader are absent. */
  private void lose(BlockRange blocks) {
    ahead.verify(block -> !blocks.contains(block));
  }

  private void refuse(long block) {
    for (Change change : changes) {
      for (Starting run : change.starting()) {
        if (run.blocks().contains(block)) {
          for (Starting each : change.starting()) {
            lose(
                new BlockRange(
                    Math.max(block, each.blocks().first()), Math.max(block, each.blocks().end())));
          }
          planner.refused(block, ahead);
          return;
        }
      }
    }
    throw new IllegalArgumentException("block " + block + " was never asked for");
  }

  private void look(String step, boolean isAbsent) {
    Change change = ahead.look(planner.wish(), block -> false);
    change.starting().forEach(run -> ahead.started(run.blocks(), run.of()));
    changes.push(change);
    List<BlockRange> runs = change.starting().stream().map(Starting::blocks).toList();
    boolean isAlong = isAbsent && change.alongUntil(lastRead) > lastRead.end();
    StringBuilder line = new StringBuilder(step);
    if (!runs.isEmpty() || !change.dropped().isEmpty()) {
      line.append(" ->");
    }
    if (!runs.isEmpty()) {
      line.append(" fetch").append(runs(runs));
    }
    if (!change.dropped().isEmpty()) {
      line.append(" abandon").append(runs(change.dropped()));
    }
    lines.add(line.append(isAlong ? " along" : "").toString());
  }

  /** Adjacent runs as one, with their number. */
  private String runs(List<BlockRange> runs) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < runs.size(); ) {
      int first = i++;
      while (i < runs.size() && runs.get(i).first() == runs.get(i - 1).end()) {
        i++;
      }
      ByteRange start = layout.bytesOf(runs.get(first));
      ByteRange end = layout.bytesOf(runs.get(i - 1));
      text.append(" [%s,%s)".formatted(text(start.start()), text(end.end())));
      if (i - first > 1) {
        text.append(" in ").append(i - first);
      }
    }
    return text.toString();
  }

  private static String text(long bytes) {
    if (bytes != 0 && bytes % (1 << 20) == 0) {
      return (bytes >> 20) + "M";
    }
    return bytes != 0 && bytes % (1 << 10) == 0 ? (bytes >> 10) + "K" : Long.toString(bytes);
  }

  static long bytes(String text) {
    int last = text.length() - 1;
    return switch (text.charAt(last)) {
      case 'K' -> Long.parseLong(text.substring(0, last)) << 10;
      case 'M' -> Long.parseLong(text.substring(0, last)) << 20;
      case 'G' -> Long.parseLong(text.substring(0, last)) << 30;
      default -> Long.parseLong(text);
    };
  }
}
