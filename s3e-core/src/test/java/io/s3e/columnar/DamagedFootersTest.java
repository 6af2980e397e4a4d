// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.s3e.block.ByteRange;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/**
 * Footers that are damaged in every way that comes to mind: each is refused, or gives a layout that
 * is inside the object and in order. Memory is bounded by the footer's length, and so is time.
 * {@value #FOOTERS} says how many of Parquet, beside a quarter as many of ORC and of its stripes.
 */
class DamagedFootersTest {
  private static final String FOOTERS = "s3e.test.footers";
  private static final int PARQUET = Integer.getInteger(FOOTERS, 20_000);
  private static final int ORC = PARQUET / 4;

  /** Bytes of memory for each byte of a footer, and for the rest. */
  private static final int MOST_MEMORY = 4;

  private static final int FIXED_MEMORY = 64 << 10;

  /** Of an ORC footer's decompression. */
  private static final int CODEC_MEMORY = 6 << 20;

  private static final Duration ENDLESS = Duration.ofMinutes(5);

  private final OrcCodecs codecs = new OrcCodecs(getClass().getClassLoader());
  private int layouts;

  private interface Parser {
    @Nullable FileLayout parse() throws MalformedException;
  }

  @Test
  @Slow
  void damagedParquetFootersAreRefusedOrConsistent() {
    Random random = new Random(Seed.draw());
    List<byte[]> footers =
        List.of(
            ParquetFooterTest.footerOf("small-part-00000"),
            ParquetFooterTest.footerOf("table-part-00000"),
            ParquetFooterTest.footerOf("lineitem"),
            ParquetFooterTest.footerOf("wide"));
    Assertions.assertTimeout(
        ENDLESS,
        () -> {
          for (int i = 0; i < PARQUET; i++) {
            byte[] footer = footers.get(i % 300 == 0 ? 3 : i % 4 == 0 ? 2 : i % 2);
            byte[] damaged = damage(footer, random);
            long limit = (long) MOST_MEMORY * damaged.length + FIXED_MEMORY;
            check(() -> ParquetFooter.parse(damaged, 22053062), limit);
          }
        });
    assertThat(layouts).as("footers that are still read").isPositive().isLessThan(PARQUET);
  }

  @Test
  void damagedTailsOfOrcAreRefusedOrConsistent() {
    Random random = new Random(Seed.draw());
    List<byte[]> tails =
        List.of(
            OrcWriter.tail(RecordedFiles.stripes(), OrcWriter.Compression.NONE, 256),
            OrcWriter.tail(RecordedFiles.stripes(), OrcWriter.Compression.ZLIB, 256),
            Arrays.copyOfRange(
                RecordedFiles.resource("files/lineitem-orc.tail16k"), (16 << 10) - 1200, 16 << 10));
    Assertions.assertTimeout(
        ENDLESS,
        () -> {
          for (int i = 0; i < ORC; i++) {
            byte[] damaged = damage(tails.get(i % 3), random);
            // Most damage to the last bytes is seen at once.
            byte[] tail = random.nextInt(3) > 0 ? withEndOf(damaged, tails.get(i % 3)) : damaged;
            check(() -> parseTail(tail), CODEC_MEMORY);
          }
        });
    assertThat(layouts).as("tails that are still read").isPositive().isLessThan(ORC);
  }

  @Test
  void damagedFootersOfStripesAreRefusedOrStayInTheirStripe() throws MalformedException {
    Random random = new Random(Seed.draw());
    byte[] tail = OrcWriter.tail(RecordedFiles.stripes(), OrcWriter.Compression.NONE, 256);
    FileLayout layout = parseTail(tail);
    RecordedFiles.File file = RecordedFiles.orc();
    int known = 0;
    for (int i = 0; i < ORC; i++) {
      int stripe = i % layout.groups;
      ByteRange footer = layout.stripeFooter(stripe);
      OrcStripes stripes = new OrcStripes(layout);
      stripes.at(stripe);
      stripes.onFooter(footer, damage(file.bytes(footer.start(), footer.end()), random), codecs);
      if (stripes.has(stripe)) {
        known++;
        ByteRange whole = layout.group(stripe);
        Set<Integer> all = new HashSet<>();
        stripes.addNames(stripe, whole.start(), whole.end(), all);
        for (ByteRange range : stripes.rangesOf(stripe, all)) {
          assertThat(range.start()).isGreaterThanOrEqualTo(whole.start());
          assertThat(range.end()).isLessThanOrEqualTo(footer.start());
        }
      } else {
        assertThat(stripes.wants()).isNull();
      }
    }
    assertThat(known).isPositive().isLessThan(ORC);
  }

  private static byte[] withEndOf(byte[] damaged, byte[] whole) {
    byte[] tail = damaged.clone();
    int end = Math.min(26, damaged.length);
    System.arraycopy(whole, whole.length - end, tail, tail.length - end, end);
    return tail;
  }

  private @Nullable FileLayout parseTail(byte[] tail) throws MalformedException {
    long size = 21837123;
    byte[] last =
        Arrays.copyOfRange(tail, Math.max(0, tail.length - FileTail.LAST_BYTES), tail.length);
    FileTail found = FileTail.of(last, size);
    if (found == null) {
      return null;
    }
    long from = found.footer().start() - (size - tail.length);
    if (from < 0) {
      throw new MalformedException("not all of it is here");
    }
    int start = (int) from;
    byte[] footer = Arrays.copyOfRange(tail, start, start + (int) found.footer().length());
    return found.layout(footer, codecs);
  }

  private void check(Parser parser, long limit) {
    if (allocated(parser) > limit) {
      // The first footer of a JVM loads classes; what is the footer's is taken each time.
      assertThat(allocated(parser)).isLessThanOrEqualTo(limit);
    }
    FileLayout layout = parsed(parser);
    if (layout != null) {
      layouts++;
      LayoutAssertions.assertConsistent(layout);
    }
  }

  private static long allocated(Parser parser) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    var unused = parsed(parser);
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  private static @Nullable FileLayout parsed(Parser parser) {
    try {
      return parser.parse();
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotBlank();
      return null;
    }
  }

  private static byte[] damage(byte[] footer, Random random) {
    byte[] damaged = footer.clone();
    int times = 1 + random.nextInt(random.nextBoolean() ? 2 : 12);
    for (int i = 0; i < times && damaged.length > 0; i++) {
      int at = random.nextInt(damaged.length);
      switch (random.nextInt(7)) {
        case 0, 1 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> damaged[at] = (byte) random.nextInt();
        case 3 -> Arrays.fill(damaged, at, Math.min(damaged.length, at + 10), (byte) 0xFF);
        case 4 -> {
          int to = random.nextInt(damaged.length);
          int length = Math.min(random.nextInt(200), damaged.length - Math.max(at, to));
          System.arraycopy(damaged, at, damaged, to, length);
        }
        case 5 -> {
          if (random.nextInt(4) == 0) {
            damaged = Arrays.copyOf(damaged, at);
          }
        }
        default -> Arrays.fill(damaged, at, Math.min(damaged.length, at + 5), (byte) 0);
      }
    }
    return damaged;
  }
}
