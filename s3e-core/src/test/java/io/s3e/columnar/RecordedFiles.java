package io.s3e.columnar;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** The files of the recordings: where their parts lie, and their last bytes. */
final class RecordedFiles {
  /**
   * The end of a file.
   *
   * @param last its last bytes, from {@code size - last.length} on
   */
  record File(long size, byte[] last) {
    byte[] bytes(long from, long to) {
      long start = size - last.length;
      return Arrays.copyOfRange(last, (int) (from - start), (int) (to - start));
    }

    boolean has(long from) {
      return from >= size - last.length;
    }
  }

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
    return new File(size, last);
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
