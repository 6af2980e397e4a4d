// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * MapReduce's own examples and DistCp, in one JVM: the LocalJobRunner. CI has text in splits and
 * gzip in one job, and counts what S3E gives for bzip2 in the run that it compares; each format in
 * a job of its own, small files, and S3E as users set it for bzip2, run without {@code
 * -Ds3e.engines=quick}, as each night.
 */
@Tag("mapreduce")
class MapReduceTest {
  private static final String ENGINE = "MapReduce, local";
  private static final String EXAMPLES = "org.apache.hadoop.examples.ExampleDriver";
  private static final String SPLIT = "mapreduce.input.fileinputformat.split.maxsize";

  private static final int SMALL_FILES = 20;
  private static final int ROWS = 20_000;
  private static final int ROW_BYTES = 100;

  @TempDir private static Path directory;
  private static Store store;
  private static EngineHome hadoop;
  private static int outputs;

  @BeforeAll
  static void put() throws Exception {
    hadoop = EngineHome.of("hadoop");
    store = Store.start(directory);
    byte[] text = Texts.text(4_000_000, 1);
    store.put("text/words.txt", text);
    store.put("gz/words.txt.gz", Texts.gzip(text));
    store.put("bz2/words.txt.bz2", Texts.bzip2(text));
    store.put("tera/in/part-m-00000", rows(ROWS));
    store.put("copied/bytes", rows(90_000));
    for (int file = 0; file < SMALL_FILES; file++) {
      store.put("small/" + file + ".txt", Texts.text(50_000 + 1_000 * file, file));
    }
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  /** A process whose client asks soon whether its job is done: jobs end within seconds. */
  private static EngineProcess process(String main, Stream stream, String job) {
    return EngineProcess.of(hadoop, main, stream, store, job)
        .set("mapreduce.client.progressmonitor.pollinterval", "100")
        .set("mapreduce.client.completion.pollinterval", "100");
  }

  /** As those of TeraGen: ten bytes of a key, and what TeraSort does not look at. */
  private static byte[] rows(int count) {
    byte[] rows = new byte[count * ROW_BYTES];
    new Random(3).nextBytes(rows);
    return rows;
  }

  /** Counts the words of directories; the digest is that of its output in the store. */
  private static Outcome wordCount(Stream stream, String inputs, String... definitions)
      throws Exception {
    String output = "out/" + ++outputs;
    List<String> arguments = new ArrayList<>(List.of("wordcount"));
    arguments.addAll(List.of(definitions));
    for (String input : inputs.split(" ", -1)) {
      arguments.add(Store.ROOT + input);
    }
    arguments.add(Store.ROOT + output);
    Outcome outcome =
        process(EXAMPLES, stream, "wordcount " + inputs).run(arguments.toArray(String[]::new));
    outcome = outcome.withDigest(store.digestOfParts(output));
    // CombineFileInputFormat counts no input, and in one JVM the counters of S3A are those of all
    // tasks.
    return inputs.equals("small") ? outcome : outcome.withInput(outcome.counter("Bytes Read"));
  }

  @Test
  void wordCountOfText() throws Exception {
    Row.compare(ENGINE, "wordcount, text, one split", stream -> wordCount(stream, "text"));
  }

  @Test
  @Tag("quick")
  void wordCountOfTextInSplitsAndOfGzip() throws Exception {
    Row.compare(
        ENGINE,
        "wordcount, text in 2 splits and gz",
        stream -> wordCount(stream, "text gz", "-D" + SPLIT + "=2000000"));
  }

  @Test
  void wordCountOfTextInSplits() throws Exception {
    Row.compare(
        ENGINE,
        "wordcount, text, 2 splits",
        stream -> wordCount(stream, "text", "-D" + SPLIT + "=2000000"));
  }

  @Test
  void wordCountOfGzip() throws Exception {
    Row.compare(ENGINE, "wordcount, gz", stream -> wordCount(stream, "gz"));
  }

  @Test
  @Tag("quick")
  void wordCountOfBzip2InSplitsCounted() throws Exception {
    Row.compareCounted(
        ENGINE,
        "wordcount, bz2, in splits, counted",
        stream -> wordCount(stream, "bz2", "-D" + SPLIT + "=400000"));
  }

  @Test
  void wordCountOfBzip2InSplits() throws Exception {
    Row.compareWithOwnInput(
        ENGINE,
        "wordcount, bz2, in splits",
        stream -> wordCount(stream, "bz2", "-D" + SPLIT + "=400000"));
  }

  @Test
  void wordCountOfManySmallFiles() throws Exception {
    Row.compare(
        ENGINE,
        "CombineTextInputFormat, " + SMALL_FILES + " files",
        stream ->
            wordCount(
                stream,
                "small",
                "-Dmapreduce.job.inputformat.class="
                    + "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat",
                "-D" + SPLIT + "=1000000"));
  }

  /** Rows of 100 bytes, sorted by both, and found in order. */
  @Test
  @Tag("quick")
  void teraSort() throws Exception {
    Map<Stream, String> sorted = new EnumMap<>(Stream.class);
    Row.compare(
        ENGINE,
        "TeraSort of 2 MB",
        stream -> {
          String output = "tera/out/" + ++outputs;
          sorted.put(stream, output);
          Outcome outcome =
              process(EXAMPLES, stream, "terasort")
                  .run(
                      "terasort",
                      "-D" + SPLIT + "=700000",
                      Store.ROOT + "tera/in",
                      Store.ROOT + output);
          // Of the maps alone; the sampler reads all of so small an input as well.
          assertThat(outcome.counter("Bytes Read")).isEqualTo(ROWS * ROW_BYTES);
          return outcome.withDigest(store.digestOfParts(output));
        });
    Row.compare(
        ENGINE,
        "TeraValidate of 2 MB",
        stream -> {
          String report = "tera/report/" + ++outputs;
          Outcome outcome =
              process(EXAMPLES, stream, "teravalidate")
                  .run("teravalidate", Store.ROOT + sorted.get(stream), Store.ROOT + report);
          return outcome
              .withDigest(store.digestOfParts(report))
              .withInput(outcome.counter("Bytes Read"));
        });
  }

  @Test
  @Tag("quick")
  void distCpToLocalFiles() throws Exception {
    Row.compare(
        "DistCp",
        "s3a to file, 9 MB",
        stream -> {
          EngineProcess copy = process("org.apache.hadoop.tools.DistCp", stream, "to file");
          Outcome outcome =
              copy.run(Store.ROOT + "copied", copy.directory().resolve("copy").toUri().toString());
          return outcome
              .withDigest(digestOf(copy.directory().resolve("copy")))
              .withInput(outcome.counter("S3A: Number of bytes read"));
        });
  }

  @Test
  void distCpWithinTheStore() throws Exception {
    Row.compare(
        "DistCp",
        "s3a to s3a, " + SMALL_FILES + " files",
        stream -> {
          String output = "copies/" + ++outputs;
          Outcome outcome =
              process("org.apache.hadoop.tools.DistCp", stream, "to s3a")
                  .run(Store.ROOT + "small", Store.ROOT + output);
          MessageDigest digest = Store.sha256();
          for (String key : store.keys(output + "/")) {
            digest.update(key.substring(output.length()).getBytes(StandardCharsets.UTF_8));
            digest.update(store.get(key));
          }
          return outcome
              .withDigest(HexFormat.of().formatHex(digest.digest()))
              .withInput(outcome.counter("S3A: Number of bytes read"));
        });
  }

  /** Of the files of a directory, with their names, but not of Hadoop's checksums. */
  private static String digestOf(Path directory) throws Exception {
    MessageDigest digest = Store.sha256();
    try (var files = Files.walk(directory)) {
      for (Path file :
          files
              .filter(Files::isRegularFile)
              .filter(each -> !each.getFileName().toString().endsWith(".crc"))
              .sorted()
              .toList()) {
        digest.update(directory.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
        digest.update(Files.readAllBytes(file));
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** A task that waits for a store that hangs says so, and ends by S3E's word for it. */
  @Test
  void aTaskOfAStoreThatHangsTellsWhy() throws Exception {
    try (HostileS3Server hanging = HostileS3Server.start()) {
      hanging.put(new ObjectRef(Store.BUCKET, "hang.txt"), Texts.text(1_000_000, 1));
      hanging.always(Fault.stallAtOnce());
      Outcome outcome =
          process(EXAMPLES, Stream.S3E, "a store that hangs")
              .set("fs.s3a.endpoint", hanging.endpoint().toString())
              .set("fs.s3a.s3e.read.timeout", "24s")
              .run(
                  "wordcount",
                  Store.ROOT + "hang.txt",
                  directory.resolve("out-of-hanging").toUri().toString());
      assertThat(outcome.exitCode()).isNotZero();
      assertThat(outcome.output())
          .anyMatch(line -> line.contains("A read has waited") && line.contains("hang.txt"))
          .anyMatch(line -> line.contains("java.io.IOException") && line.contains("/hang.txt"));
    }
  }
}
