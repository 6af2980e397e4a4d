// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the streams of the stripes near the reader lie, as far as footers of stripes have been
 * seen: those of one stream, and not kept for others. Not thread-safe.
 *
 * <p>A stream is known by a number made of its column and kind. Streams of a stripe follow each
 * other from the stripe's start; a footer whose streams do not fit into the stripe is refused, and
 * with it all that come later.
 */
final class OrcStripes {
  /** Stripes that footers are kept of. */
  private static final int MAX_STRIPES = 64;

  private static final int MAX_STREAMS = 1 << 14;

  private static final int FOOTER_STREAMS = 1;
  private static final int FOOTER_ENCRYPTION = 4;

  private static final int STREAM_KIND = 1;
  private static final int STREAM_COLUMN = 2;
  private static final int STREAM_LENGTH = 3;

  /** There are fewer kinds. */
  private static final int KINDS = 64;

  /** Stream i is {@code names[i]} and lies in {@code [starts[i], starts[i + 1])}. */
  private record Streams(int[] names, long[] starts) {}

  private final FileLayout layout;
  private final Map<Integer, Streams> stripes = new HashMap<>();
  private int first;
  private boolean isRefused;

  OrcStripes(FileLayout layout) {
    this.layout = layout;
  }

  /** The reader has come to {@code stripe}: the streams of those before it are forgotten. */
  void at(int stripe) {
    if (stripe != first) {
      first = stripe;
      stripes.keySet().removeIf(each -> each < stripe || each >= stripe + MAX_STRIPES);
    }
  }

  /** The footer to be seen next; null if none. */
  @Nullable ByteRange wants() {
    int end = Math.min(layout.groups, first + MAX_STRIPES);
    for (int stripe = first; !isRefused && stripe < end; stripe++) {
      if (!stripes.containsKey(stripe)) {
        return layout.stripeFooter(stripe);
      }
    }
    return null;
  }

  void onFooter(ByteRange range, byte[] bytes, OrcCodecs codecs) {
    int stripe = layout.groupAt(range.start());
    try {
      byte[] plain = OrcTail.plain(layout.compression, layout.blockBytes, bytes, codecs);
      stripes.put(stripe, read(stripe, plain));
    } catch (MalformedException e) {
      isRefused = true;
    }
  }

  private Streams read(int stripe, byte[] footer) throws MalformedException {
    long limit = layout.stripeFooter(stripe).start();
    ProtobufReader in = new ProtobufReader(footer, 0, footer.length);
    int count = in.count(FOOTER_STREAMS);
    if (count > MAX_STREAMS || in.count(FOOTER_ENCRYPTION) > 0) {
      throw new MalformedException("encrypted, or more than " + MAX_STREAMS + " streams");
    }
    Streams streams = new Streams(new int[count], new long[count + 1]);
    long end = layout.group(stripe).start();
    streams.starts[0] = end;
    for (int i = 0; in.nextField(); ) {
      if (in.field != FOOTER_STREAMS) {
        in.skipField();
        continue;
      }
      long[] told = in.readNumbersOfField(STREAM_LENGTH);
      if (told[STREAM_KIND] >= KINDS || told[STREAM_COLUMN] >= Integer.MAX_VALUE / KINDS) {
        throw new MalformedException("a stream of a kind or column that cannot be");
      }
      if (told[STREAM_LENGTH] > limit - end) {
        throw new MalformedException("streams go beyond their stripe");
      }
      end += told[STREAM_LENGTH];
      streams.names[i++] = (int) (told[STREAM_COLUMN] * KINDS + told[STREAM_KIND]);
      streams.starts[i] = end;
    }
    return streams;
  }

  boolean has(int stripe) {
    return stripes.containsKey(stripe);
  }

  /** Adds the names of the streams of {@code stripe} that {@code [from, to)} touches. */
  void addNames(int stripe, long from, long to, Set<Integer> names) {
    Streams streams = stripes.get(stripe);
    for (int i = 0; streams != null && i < streams.names.length; i++) {
      if (streams.starts[i] < to && streams.starts[i + 1] > from) {
        names.add(streams.names[i]);
      }
    }
  }

  /** The bytes of the streams of {@code stripe} of those names, ascending. */
  List<ByteRange> rangesOf(int stripe, Set<Integer> names) {
    List<ByteRange> ranges = new ArrayList<>();
    Streams streams = stripes.get(stripe);
    for (int i = 0; streams != null && i < streams.names.length; i++) {
      if (names.contains(streams.names[i]) && streams.starts[i] < streams.starts[i + 1]) {
        ranges.add(new ByteRange(streams.starts[i], streams.starts[i + 1]));
      }
    }
    return ranges;
  }
}
