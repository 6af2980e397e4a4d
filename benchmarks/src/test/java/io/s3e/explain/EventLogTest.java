// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Finding and reading logs, whole and damaged ones, in every codec. */
class EventLogTest {
  private static final Explanation.Options OPTIONS =
      new Explanation.Options(new Configuration(), false, OptionalDouble.of(0.05));

  @TempDir Path directory;
  private RecordedLog recorded;
  private String[] lines;

  @BeforeEach
  void read() throws IOException {
    recorded = RecordedLog.of("clean");
    lines = new String(recorded.lines(), UTF_8).split("\n");
  }

  private static List<Explanation> explain(Path path) throws IOException {
    return RecordedLog.explained(path, OPTIONS);
  }

  private void write(Path file, String[] some) throws IOException {
    Files.writeString(file, String.join("\n", some) + "\n");
  }

  @ParameterizedTest
  @EnumSource(LogCodec.class)
  void everyCodecOfSparkGivesTheSame(LogCodec codec) throws IOException {
    Explanation plain =
        explain(recorded.write(Files.createDirectory(directory.resolve("plain")), LogCodec.NONE))
            .get(0);
    Explanation explanation = explain(recorded.write(directory, codec)).get(0);
    assertThat(explanation.damages()).isEmpty();
    assertThat(explanation.application().runMillis())
        .isEqualTo(plain.application().runMillis())
        .isPositive();
    assertThat(explanation.application().s3e()).isEqualTo(plain.application().s3e());
  }

  @ParameterizedTest
  @EnumSource(LogCodec.class)
  void aLogThatBreaksOffIsReadAsFarAsItGoes(LogCodec codec) throws IOException {
    // Codecs write blocks of up to 128 KiB, of which the last is lost.
    Path whole = recorded.times(10).write(directory, codec);
    byte[] bytes = Files.readAllBytes(whole);
    Path killed = directory.resolve(whole.getFileName() + LogCodec.IN_PROGRESS);
    Files.write(killed, Arrays.copyOf(bytes, bytes.length - 100));
    Explanation explanation = explain(killed).get(0);
    assertThat(explanation.damages()).hasSize(1).first().asString().contains("app-1");
    assertThat(explanation.application().runMillis()).isPositive();
  }

  @Test
  void theLastLineMayBeCutOff() throws IOException {
    String cut = String.join("\n", lines);
    Path file = Files.writeString(directory.resolve("app-2"), cut.substring(0, cut.length() - 3));
    assertThat(explain(file).get(0).damages())
        .containsExactly("app-2: the last line, number " + lines.length + ", is cut off");
  }

  /** As that of an application that runs, or was killed: Spark writes whole lines. */
  @Test
  void aLogWithoutAnEndIsToldThoughItsLinesAreWhole() throws IOException {
    String[] begun = Arrays.copyOf(lines, lines.length - 1);
    Path file = directory.resolve("app-7.inprogress");
    write(file, begun);
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-8"));
    write(rolling.resolve("events_1_app-8"), Arrays.copyOf(begun, 9));
    write(rolling.resolve("events_2_app-8"), Arrays.copyOfRange(begun, 9, begun.length));
    for (Path log : List.of(file, rolling)) {
      Explanation explanation = explain(log).get(0);
      assertThat(explanation.damages())
          .containsExactly(
              log.getFileName() + " has no end of the application: it runs, or was killed");
      assertThat(explanation.application().runMillis()).isPositive();
    }
  }

  /** Listeners may tell more once the application has ended. */
  @Test
  void theEndMayStandInAnyPart() throws IOException {
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-9"));
    write(rolling.resolve("events_1_app-9"), lines);
    write(rolling.resolve("events_2_app-9"), Arrays.copyOfRange(lines, 5, 6));
    assertThat(explain(rolling).get(0).damages()).isEmpty();
  }

  @Test
  void aBadLineAmongOthersIsTold() throws IOException {
    String[] damaged = lines.clone();
    damaged[3] = "{\"Event\":\"SparkListenerTaskEnd\",}";
    Path file = directory.resolve("app-3");
    write(file, damaged);
    assertThat(explain(file).get(0).damages())
        .containsExactly("app-3: 1 of " + lines.length + " lines cannot be read");
  }

  @Test
  void aRollingLogIsReadFromItsCompactedPartOn() throws IOException {
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-4"));
    int half = lines.length / 2;
    write(rolling.resolve("events_1_app-4"), Arrays.copyOfRange(lines, 0, 5));
    write(rolling.resolve("events_2_app-4.compact"), Arrays.copyOfRange(lines, 0, half));
    write(rolling.resolve("events_10_app-4"), Arrays.copyOfRange(lines, half, lines.length));
    Files.createFile(rolling.resolve("appstatus_app-4"));
    Explanation whole = explain(recorded.write(directory, LogCodec.NONE)).get(0);
    Explanation explanation = explain(rolling).get(0);
    assertThat(explanation.damages())
        .containsExactly(
            "events_2_app-4.compact is compacted: of jobs that had ended before, only S3E's own"
                + " sums are left");
    assertThat(explanation.application().runMillis()).isEqualTo(whole.application().runMillis());
  }

  /** Spark writes the compacted part beside the parts that it will stand for. */
  @Test
  void aPartThatIsBeingCompactedIsReadOnce() throws IOException {
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-4"));
    write(rolling.resolve("events_1_app-4"), lines);
    write(rolling.resolve("events_1_app-4.compact.inprogress"), lines);
    Explanation whole = explain(recorded.write(directory, LogCodec.NONE)).get(0);
    Explanation explanation = explain(rolling).get(0);
    assertThat(explanation.damages()).isEmpty();
    assertThat(explanation.application().s3e()).isEqualTo(whole.application().s3e());
  }

  @ParameterizedTest
  @EnumSource(LogCodec.class)
  void aCompactedPartIsCompressedAsItsNameTellsBeforeThat(LogCodec codec) throws IOException {
    Path whole = recorded.write(directory, codec);
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-1"));
    Files.copy(whole, rolling.resolve("events_1_" + whole.getFileName() + ".compact"));
    Explanation explanation = explain(rolling).get(0);
    assertThat(explanation.damages()).singleElement().asString().contains("is compacted");
    assertThat(explanation.application().runMillis())
        .isEqualTo(explain(whole).get(0).application().runMillis())
        .isPositive();
  }

  @Test
  void aPathWithoutASchemeIsLocalWhateverTheSettingsOfACluster() throws IOException {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "hdfs://namenode:8020");
    Explanation.Options options = new Explanation.Options(conf, false, OptionalDouble.of(0.05));
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-6"));
    write(rolling.resolve("events_1_app-6"), lines);
    for (Path absolute : List.of(recorded.write(directory, LogCodec.NONE), rolling, directory)) {
      Path relative = Path.of("").toAbsolutePath().relativize(absolute);
      for (Path path : List.of(absolute, relative)) {
        Explanation explanation = RecordedLog.explained(path, options).get(0);
        assertThat(explanation.application().runMillis()).as("%s", path).isPositive();
      }
    }
  }

  @Test
  void aDirectoryHasALogForEachApplication() throws IOException {
    recorded.write(directory, LogCodec.NONE);
    recorded.write(directory, LogCodec.ZSTD);
    Path rolling = Files.createDirectory(directory.resolve("eventlog_v2_app-5"));
    write(rolling.resolve("events_1_app-5"), lines);
    Files.createFile(directory.resolve(".app-1.crc"));
    assertThat(explain(directory)).hasSize(3);
  }

  /** The codec fails by an error of its own where a chunk's length cannot be. */
  @Test
  void aDamagedLogOfSnappyBreaksOffAndIsNoMissingLibrary() throws IOException {
    Path log = recorded.write(directory, LogCodec.SNAPPY);
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(log));
    int header = 16;
    int second = header + Integer.BYTES + bytes.getInt(header);
    Files.write(log, bytes.putInt(second, Integer.MAX_VALUE).array());
    assertThat(explain(log).get(0).damages())
        .singleElement()
        .asString()
        .contains("breaks off after line", "is greater than max configured chunk size");

    Files.write(log, bytes.putInt(header, Integer.MAX_VALUE).array());
    assertThatThrownBy(() -> explain(log))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(log.toString())
        .hasMessageContaining("is greater than max configured chunk size");
  }

  @Test
  void aFileThatIsNoLogCostsNoneOfTheOthers() throws IOException {
    recorded.write(directory, LogCodec.NONE);
    Path text = Files.writeString(directory.resolve("a-first.txt"), "not a log\n");
    Files.createFile(directory.resolve("app-9.snappy.inprogress"));
    List<Explanation> all = new ArrayList<>();
    assertThat(Explanation.each(directory.toString(), OPTIONS, all::add))
        .singleElement()
        .asString()
        .contains(text.toString(), "no event log");
    assertThat(all).hasSize(2);
    assertThat(all.get(1).damages()).containsExactly("app-9.snappy.inprogress is empty");
  }

  /** As of a running application on a store whose files appear when they are closed. */
  @Test
  void aRollingLogWithoutAPartCostsNoneOfTheOthers() throws IOException {
    recorded.write(directory, LogCodec.NONE);
    Path running = Files.createDirectory(directory.resolve("eventlog_v2_app-9"));
    Files.createFile(running.resolve("appstatus_app-9.inprogress"));
    List<Explanation> all = new ArrayList<>();
    assertThat(Explanation.each(directory.toString(), OPTIONS, all::add))
        .singleElement()
        .asString()
        .contains(running.toString(), "no part of a rolling event log");
    assertThat(all).hasSize(1);
  }

  @Test
  void whatIsNoEventLogIsNamed() throws IOException {
    Path text = Files.writeString(directory.resolve("notes.txt"), "not a log\n");
    assertThatThrownBy(() -> explain(text))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(text.toString())
        .hasMessageContaining("no event log");
    Path missing = directory.resolve("missing");
    assertThatThrownBy(() -> explain(missing)).hasMessageContaining(missing.toString());
    Path empty = Files.createDirectory(directory.resolve("empty"));
    assertThatThrownBy(() -> explain(empty)).hasMessageContaining(empty.toString());
  }
}
