// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The files of the recordings: where their parts lie, and their last bytes. */
final class RecordedFiles {
  /**
   * The end of a file.
   *
   * @param last its last bytes, from {@code size - last.length} on
   * @param parts other bytes of it, by offset
   */
  record File(long size, byte[] last, Map<Long, byte[]> parts) {
    File(long size, byte[] last) {
      this(size, last, Map.of());
    }

    byte[] bytes(long from, long to) {
      byte[] part = parts.get(from);
      if (part != null) {
        return part;
      }
      long start = size - last.length;
      return Arrays.copyOfRange(last, (int) (from - start), (int) (to - start));
    }

    boolean has(long from) {
      return from >= size - last.length || parts.containsKey(from);
    }
  }

  private static final List<ByteRange> NONE = List.of();

  private RecordedFiles() {}

  static byte[] resource(String name) {
    try (InputStream in = RecordedFiles.class.getResourceAsStream("/columnar/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> lines(String name) {
    return new String(resource(name), StandardCharsets.UTF_8).lines().toList();
  }

  /** A Parquet file whose footer is real. */
  static File parquet(String name) {
    return new File(header(name)[0], resource("files/" + name + ".footer"));
  }

  /** The file whose rows were picked by its page index: with the offset indexes of group 2. */
  static File lineitem() {
    long[][][] pages = {
      {{0, 5133627, 29871}, {20000, 5163498, 29871}, {40000, 5193369, 34606}},
      {{0, 5634426, 116091}, {20000, 5750517, 116091}, {40000, 5866608, 99163}},
      // Cut by bytes, a little earlier: the rows of the first page of others are in two of these.
      {{0, 6369625, 433212}, {19500, 6802837, 433213}, {39000, 7236050, 386213}},
    };
    long[] indexes = {21458601, 21458813, 21459231};
    byte[] all = new byte[(int) (21459274 - indexes[0])];
    for (int column = 0; column < pages.length; column++) {
      byte[] index = FooterWriter.offsetIndex(pages[column]);
      System.arraycopy(index, 0, all, (int) (indexes[column] - indexes[0]), index.length);
    }
    return new File(
        header("lineitem")[0], resource("files/lineitem.footer"), Map.of(indexes[0], all));
  }

  /** A Parquet file of which only the layout is known, with a footer made of that. */
  static File parquetLike(String name) {
    long[] header = header(name);
    byte[] footer = FooterWriter.write(columns(name), chunks(name), (int) header[1]);
    return new File(header[0], parquetTail(footer));
  }

  static byte[] parquetTail(byte[] footer) {
    byte[] tail = Arrays.copyOf(footer, footer.length + 8);
    for (int i = 0; i < 4; i++) {
      tail[footer.length + i] = (byte) (footer.length >>> (8 * i));
      tail[footer.length + 4 + i] = (byte) "PAR1".charAt(i);
    }
    return tail;
  }

  /** The ORC file, with a footer that is not compressed. */
  static File orc() {
    long size = Long.parseLong(lines("files/lineitem-orc.layout.tsv").get(0).split(" ")[4]);
    byte[] tail = OrcWriter.tail(stripes(), OrcWriter.Compression.NONE, 256 << 10);
    byte[] last = new byte[16 << 10];
    System.arraycopy(tail, 0, last, last.length - tail.length, tail.length);
    return new File(size, last, stripeFooters());
  }

  /**
   * Footers of the ORC file's stripes, made of what is known: all streams of stripe 0, and where
   * orc-core 2.2.2 went to read the same streams of the others. What lies between is a stream.
   */
  private static Map<Long, byte[]> stripeFooters() {
    List<long[]> ofFirst = streamsOfFirstStripe();
    List<OrcWriter.Stripe> stripes = stripes();
    Map<Long, byte[]> footers = new HashMap<>();
    for (int stripe = 0; stripe < stripes.size(); stripe++) {
      OrcWriter.Stripe where = stripes.get(stripe);
      TreeMap<Long, long[]> known = new TreeMap<>();
      for (String query : List.of("four", "one", "filter", "bloom")) {
        addKnown(query, stripes, stripe, ofFirst, known);
      }
      int filler = 100;
      for (Recording.Call call : Recording.of("orc-2.2.2_filter").calls()) {
        for (ByteRange range : call.kind() == Recording.Kind.VECTORED ? call.ranges() : NONE) {
          if (isApart(range, where, known)) {
            known.put(range.start(), new long[] {1, filler++, range.length()});
          }
        }
      }
      List<long[]> streams = new ArrayList<>();
      long at = where.offset();
      for (Map.Entry<Long, long[]> each : known.entrySet()) {
        if (each.getKey() > at) {
          streams.add(new long[] {1, filler++, each.getKey() - at});
        }
        streams.add(each.getValue());
        at = each.getKey() + each.getValue()[2];
      }
      long end = where.offset() + where.index() + where.data();
      streams.add(new long[] {1, filler, end - at});
      footers.put(end, OrcWriter.stripeFooter(streams, (int) where.footer()));
    }
    return footers;
  }

  /** Whether a range lies in a stripe and in no stream that is known of it. */
  private static boolean isApart(
      ByteRange range, OrcWriter.Stripe where, TreeMap<Long, long[]> known) {
    Map.Entry<Long, long[]> before = known.lowerEntry(range.end());
    return range.start() >= where.offset()
        && range.end() <= where.offset() + where.index() + where.data()
        && (before == null || before.getKey() + before.getValue()[2] <= range.start());
  }

  private static void addKnown(
      String query,
      List<OrcWriter.Stripe> stripes,
      int stripe,
      List<long[]> ofFirst,
      TreeMap<Long, long[]> known) {
    List<ByteRange> first = vectored(query, stripes.get(0));
    List<ByteRange> ranges = vectored(query, stripes.get(stripe));
    for (int i = 0; i < first.size(); i++) {
      for (long[] stream : ofFirst) {
        if (stream[3] == first.get(i).start()) {
          ByteRange range = ranges.get(i);
          known.put(range.start(), new long[] {stream[0], stream[1], range.length()});
        }
      }
    }
  }

  /** The first vectored read of a stripe. */
  private static List<ByteRange> vectored(String query, OrcWriter.Stripe stripe) {
    for (Recording.Call call : Recording.of("orc-2.2.2_" + query).calls()) {
      if (call.kind() == Recording.Kind.VECTORED) {
        long start = call.ranges().get(0).start();
        if (start >= stripe.offset() && start < stripe.offset() + stripe.index() + stripe.data()) {
          return call.ranges();
        }
      }
    }
    throw new AssertionError("no read of " + stripe + " by " + query);
  }

  /** Kind, column, length and offset of each. */
  private static List<long[]> streamsOfFirstStripe() {
    List<String> kinds =
        List.of("PRESENT", "DATA", "LENGTH", "DICTIONARY_DATA", "?", "?", "ROW_INDEX", "?");
    List<long[]> streams = new ArrayList<>();
    for (String line : lines("files/lineitem-orc.layout.tsv")) {
      String[] words = line.split("\t");
      if (words.length == 4 && !line.startsWith("#")) {
        int kind = words[0].startsWith("BLOOM") ? 8 : kinds.indexOf(words[0]);
        long column = Long.parseLong(words[1]);
        streams.add(new long[] {kind, column, Long.parseLong(words[3]), Long.parseLong(words[2])});
      }
    }
    return streams;
  }

  static List<OrcWriter.Stripe> stripes() {
    List<OrcWriter.Stripe> stripes = new ArrayList<>();
    for (String line : lines("files/lineitem-orc.layout.tsv")) {
      String[] words = line.split("\t");
      if (words.length == 6 && !line.startsWith("#")) {
        stripes.add(
            new OrcWriter.Stripe(
                Long.parseLong(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4])));
      }
    }
    return stripes;
  }

  /** Length of the file and of its footer. */
  static long[] header(String name) {
    String[] words = lines("files/" + name + ".layout.tsv").get(0).split(" ");
    return new long[] {Long.parseLong(words[4]), Long.parseLong(words[6])};
  }

  static List<String> columns(String name) {
    List<String> columns = new ArrayList<>();
    for (String[] words : rows(name)) {
      if (words[0].equals("0")) {
        columns.add(words[1]);
      }
    }
    return columns;
  }

  /** The chunks of each group, as parquet-java reads them. */
  static List<List<FooterWriter.Chunk>> chunks(String name) {
    List<List<FooterWriter.Chunk>> groups = new ArrayList<>();
    for (String[] words : rows(name)) {
      int group = Integer.parseInt(words[0]);
      while (groups.size() <= group) {
        groups.add(new ArrayList<>());
      }
      long dictionary = Long.parseLong(words[3]);
      String[] columnIndex = words[7].split("\\+");
      String[] offsetIndex = words[8].split("\\+");
      long bloom = Long.parseLong(words[9]);
      groups
          .get(group)
          .add(
              new FooterWriter.Chunk(
                  dictionary == 0 ? null : dictionary,
                  Long.parseLong(words[4]),
                  Long.parseLong(words[6]),
                  Long.parseLong(columnIndex[0]),
                  Integer.parseInt(columnIndex[1]),
                  Long.parseLong(offsetIndex[0]),
                  Integer.parseInt(offsetIndex[1]),
                  bloom < 0 ? null : bloom,
                  null));
    }
    return groups;
  }

  private static List<String[]> rows(String name) {
    return lines("files/" + name + ".layout.tsv").stream()
        .filter(line -> !line.startsWith("#") && !line.isBlank())
        .map(line -> line.split("\t"))
        .toList();
  }
}
