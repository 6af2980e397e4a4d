// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.formats.ColumnarStore.Stream;
import io.s3e.hadoop.formats.ColumnarStore.Traffic;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What libraries read of their files over S3E is what they read of them on the local disk, with
 * columns fetched ahead and without, from a good store and from one that breaks a tenth of its
 * answers; and what is fetched ahead is worth it. A build reads one file by a library of each
 * format; {@value #WHAT}{@code =all} reads files of every library of its format in every codec,
 * through three storms, and by S3A's classic stream too.
 */
@Tag("source-tree")
@Slow
class FormatReadsTest {
  private static final String WHAT = "s3e.test.formats";
  private static final boolean ALL = "all".equals(System.getProperty(WHAT));
  private static final int STORMS = ALL ? 3 : 1;
  private static final double SHARE = 0.1;

  /** A tail that is guessed is this long at least. */
  private static final long TAIL_BYTES = 64 << 10;

  /** The tail, and a group more may be asked for. */
  private static final long SLACK_BYTES = 512 << 10;

  private static final Fault[] BROKEN = {
    Fault.status(503, "SlowDown"),
    Fault.status(500, "InternalError"),
    Fault.resetAtOnce(),
    Fault.endAtOnce(),
    Fault.resetAfter(0),
    Fault.resetAfter(40_000),
    Fault.resetAt(0.5),
    Fault.resetAt(0.999_999),
    Fault.endAfter(70_000),
    Fault.endAt(0.5),
    Fault.endAt(0.999_999),
    Fault.shorter(1),
    Fault.shifted(1),
    Fault.trickle(16 << 10, Duration.ofMillis(5)),
    Fault.delay(Duration.ofMillis(60)),
    Fault.delay(Duration.ofMillis(60)).and(Fault.endAt(0.3)),
    Fault.stallAfter(30_000)
  };

  @TempDir private Path directory;

  /** One library of each format, other ones each time; all where all is asked for. */
  static List<Library> libraries() {
    List<Library> libraries = new ArrayList<>(List.of(Library.values()));
    if (ALL) {
      return libraries;
    }
    Collections.shuffle(libraries, new Random(Seed.draw()));
    List<Library> some = new ArrayList<>();
    for (Library each : libraries) {
      if (some.stream().noneMatch(each::reads)) {
        some.add(each);
      }
    }
    return some;
  }

  @ParameterizedTest
  @MethodSource("libraries")
  @Timeout(value = 25, unit = TimeUnit.MINUTES)
  void theRowsAreTheSame(Library library) throws Exception {
    long seed = Seed.ofBuilds();
    try (Library.Loaded reads = library.load(directory)) {
      for (Map.Entry<String, byte[]> file : files(library).entrySet()) {
        compare(library + " reads " + file.getKey(), reads, file.getValue(), seed);
      }
    }
  }

  /** By their names: the library's own, or those of all that it can read. */
  private Map<String, byte[]> files(Library library) throws Exception {
    Map<String, byte[]> files = new LinkedHashMap<>();
    for (Library writer : Library.values()) {
      if (writer != library && !(ALL && library.reads(writer))) {
        continue;
      }
      try (Library.Loaded writes = writer.load(directory)) {
        for (Codec codec : ALL ? List.of(Codec.values()) : List.of(library.codec())) {
          String name = writer + "-" + codec;
          Path file = Files.createTempDirectory(directory, "file").resolve(name);
          writes.write(file, codec);
          files.put(name, Files.readAllBytes(file));
        }
      }
    }
    return files;
  }

  private void compare(String what, FormatReads reads, byte[] file, long seed) throws Exception {
    Path local = Files.createTempDirectory(directory, "local").resolve("file");
    Files.write(local, file);
    Map<Reading, String> expected = new EnumMap<>(Reading.class);
    for (Reading how : Reading.values()) {
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(local.toUri());
      expected.put(how, reads.read(how, path, new Configuration(false)));
    }
    assertThat(expected.get(Reading.ALL)).startsWith(Rows.COUNT + " rows");
    assertThat(expected.get(Reading.COUNT)).startsWith(Rows.COUNT + " rows");

    Map<Stream, Map<Reading, Traffic>> traffic = new EnumMap<>(Stream.class);
    for (Stream stream : ALL ? Stream.values() : new Stream[] {Stream.OFF, Stream.AUTO}) {
      try (HostileS3Server server = HostileS3Server.startApart()) {
        server.shape(Duration.ofMillis(10), 0);
        traffic.put(stream, read(what, reads, file, server, stream, expected));
      }
    }
    System.out.println(what + ", " + file.length + " bytes:");
    traffic.forEach((stream, readings) -> System.out.println("  " + stream + " " + readings));
    check(what, traffic.get(Stream.AUTO), traffic.get(Stream.OFF));
    for (int storm = 0; storm < STORMS; storm++) {
      try (HostileS3Server server = HostileS3Server.startApart()) {
        server.storm(SHARE, seed + storm, BROKEN);
        read(what + ", storm " + storm, reads, file, server, Stream.AUTO, expected);
        assertThat(server.answers().keySet()).as("answers").hasSizeGreaterThan(2);
      }
    }
  }

  /** What is fetched ahead is worth it. Counts, for nothing here is timed. */
  private static void check(String what, Map<Reading, Traffic> auto, Map<Reading, Traffic> off) {
    Traffic four = auto.get(Reading.FOUR);
    Traffic plain = off.get(Reading.FOUR);
    assertThat(four.bytes())
        .as("%s: bytes of four columns", what)
        .isLessThanOrEqualTo(plain.bytes() + SLACK_BYTES);
    // Without prediction, a reader by seeks takes the whole file and waits little.
    if (four.bytes() > plain.bytes() / 2) {
      assertThat(four.dependent())
          .as("%s: GETs that were waited for, four columns", what)
          .isLessThanOrEqualTo(plain.dependent());
    }
    assertThat(four.dependent())
        .as("%s: GETs that were waited for, four columns of nine groups", what)
        .isLessThan(9);
    for (Reading filtered : List.of(Reading.BLOOM, Reading.PAGE_INDEX)) {
      assertThat(auto.get(filtered).bytes())
          .as("%s: bytes of %s", what, filtered)
          .isLessThanOrEqualTo(off.get(filtered).bytes() + SLACK_BYTES);
    }
    assertThat(auto.get(Reading.COUNT).bytes())
        .as("%s: bytes of a count", what)
        .isLessThanOrEqualTo(off.get(Reading.COUNT).bytes() + TAIL_BYTES);
  }

  private static Map<Reading, Traffic> read(
      String what,
      FormatReads reads,
      byte[] file,
      HostileS3Server server,
      Stream stream,
      Map<Reading, String> expected)
      throws Exception {
    Map<Reading, Traffic> traffic = new EnumMap<>(Reading.class);
    try (ColumnarStore store = new ColumnarStore(server, stream)) {
      for (Reading how : Reading.values()) {
        Traffic before = store.traffic();
        org.apache.hadoop.fs.Path path = store.put(how + "/part-0", file);
        assertThat(reads.read(how, path, store.conf()))
            .as("%s, %s by %s", what, how, stream)
            .isEqualTo(expected.get(how));
        traffic.put(how, store.traffic().minus(before));
      }
    }
    return traffic;
  }
}
