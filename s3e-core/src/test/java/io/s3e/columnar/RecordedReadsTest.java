// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.columnar.Recording.Call;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Eventually;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Recorded readers over a real engine: the bytes are right, and in how many calls the reader finds
 * a block absent and has to ask for it itself. What was guessed has come before the next call.
 */
@Timeout(120)
@Slow
class RecordedReadsTest {
  private static final int BLOCK = 64 << 10;
  private static final String ETAG = "\"v1\"";

  @ParameterizedTest
  @CsvSource({
    "parquet-java-1.16.0_four, 2",
    "parquet-java-1.16.0_one, 2",
    "parquet-java-1.16.0_split2of4, 2",
    "parquet-java-1.16.0_dictionary, 3",
    "parquet-java-1.16.0_bloom, 2",
    "parquet-java-1.16.0_pageindex, 3",
    "parquet-java-1.16.0_count, 1",
    "parquet-java-1.16.0_splitempty, 1",
    "parquet-java-1.13.1_four, 3",
    "parquet-java-1.13.1_one, 2",
    "parquet-java-1.13.1_pageindex, 3",
    "iceberg-1.10.1_four, 2",
    "iceberg-1.10.1_filter, 3",
    "spark-4.1.4_four, 2",
  })
  void fewCallsHaveToAsk(String recording, int calls) throws Exception {
    assertThat(asked(recording, ColumnarMode.AUTO, SplitSource.UNKNOWN)).isLessThanOrEqualTo(calls);
  }

  @ParameterizedTest
  @CsvSource({
    "parquet-java-1.16.0_four, 10",
    "parquet-java-1.16.0_dictionary, 15",
    "parquet-java-1.16.0_bloom, 10",
  })
  void withoutPredictionEachPartIsAskedFor(String recording, int calls) throws Exception {
    assertThat(asked(recording, ColumnarMode.OFF, SplitSource.UNKNOWN)).isEqualTo(calls);
  }

  @ParameterizedTest
  @ValueSource(strings = {"parquet-java-1.16.0_four", "spark-4.1.4_four"})
  void aKnownSplitIsReadToItsEnd(String recording) throws Exception {
    SplitSource all = () -> new ByteRange(0, Long.MAX_VALUE);

    assertThat(asked(recording, ColumnarMode.AUTO, all)).isEqualTo(2);
  }

  private static int asked(String recording, ColumnarMode mode, SplitSource splits)
      throws Exception {
    try (Engine engine = new Engine(mode)) {
      return engine.play(Recording.of(recording), OpenOptions.DEFAULTS.withSplits(splits));
    }
  }

  /** What one stream has learnt serves the next one of the version; so does what it has fetched. */
  @Test
  void secondReaderOfAFileNeedsNoFooter() throws Exception {
    try (Engine auto = new Engine(ColumnarMode.AUTO)) {
      auto.play(Recording.of("parquet-java-1.16.0_four"), OpenOptions.DEFAULTS);

      assertThat(auto.play(Recording.of("parquet-java-1.16.0_four"), OpenOptions.DEFAULTS))
          .isZero();
    }
  }

  @Test
  void theTailComesByOneGet() throws Exception {
    try (Engine auto = new Engine(ColumnarMode.AUTO)) {
      List<Call> calls = Recording.of("parquet-java-1.16.0_four").calls();
      auto.play(new Recording("tail", calls.subList(0, 5)), OpenOptions.DEFAULTS);

      assertThat(auto.client.gets()).hasSize(1);
      assertThat(auto.client.gets().get(0).range().length()).isGreaterThan(200_000);
    }
  }

  /** A scan of more than memory holds pushes out all of a file but its tail. */
  @ParameterizedTest
  @CsvSource({"OFF, 1", "AUTO, 0"})
  void tailsStayInMemoryLongest(ColumnarMode mode, int asked) throws Exception {
    Recording four = Recording.of("parquet-java-1.16.0_four");
    try (Engine engine = new Engine(mode)) {
      engine.play(four, OpenOptions.DEFAULTS);
      engine.scan(160 << 20);

      Recording tail = new Recording("tail", four.calls().subList(0, 5));
      assertThat(engine.play(tail, OpenOptions.DEFAULTS)).isEqualTo(asked);
    }
  }

  /** 4 MiB, of which four columns take 1 MiB. */
  private static final Table MANY_FILES = new Table(1, 16, 256 << 10, 20_000, 2, 3, 11, 12);

  /**
   * From the third file on, footer and data come together: ten files by ten calls. A reader whose
   * footer was there before all GETs were sent, on a busy machine, asks for the rest itself: so the
   * best of some engines counts.
   */
  @ParameterizedTest
  @EnumSource
  void filesAlikeNeedOneCall(Table.Reader reader) throws Exception {
    int best = Integer.MAX_VALUE;
    for (int engines = 0; engines < 4 && best > 15; engines++) {
      best = Math.min(best, callsOfTenFilesAlike(reader));
    }
    assertThat(best).isBetween(10, 15);
  }

  private static int callsOfTenFilesAlike(Table.Reader reader) throws Exception {
    int askedOfTen = 0;
    try (Engine engine = new Engine(ColumnarMode.AUTO)) {
      for (int i = 0; i < 12; i++) {
        String name = "table/" + i;
        engine.files.put(name, MANY_FILES.file());
        Recording recording = MANY_FILES.readOf(name, reader);
        int asked = engine.play(recording, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM));
        if (i >= 2) {
          askedOfTen += asked;
          // 18 blocks of data, and the tail.
          assertThat(engine.fetchedBlocks(name)).as(name).isLessThanOrEqualTo(20);
        }
      }
    }
    return askedOfTen;
  }

  @Test
  void observingFetchesNothing() throws Exception {
    try (Engine off = new Engine(ColumnarMode.OFF);
        Engine observe = new Engine(ColumnarMode.OBSERVE)) {
      for (Engine engine : List.of(off, observe)) {
        engine.play(Recording.of("parquet-java-1.16.0_four"), OpenOptions.DEFAULTS);
      }

      assertThat(observe.ranges()).isEqualTo(off.ranges());
    }
  }

  /** An engine over the recordings' files. */
  private static final class Engine implements AutoCloseable {
    private final MemoryBudget budget = new MemoryBudget(64L << 20);
    private final MemoryObjectClient client =
        new MemoryObjectClient(ClientLimits.copying(8 << 20, 32, 0));
    private final S3E s3e;
    private final Map<String, byte[]> contents = new HashMap<>();

    /** The file of each name; lineitem of all others. */
    private final Map<String, RecordedFiles.File> files = new HashMap<>();

    /** The names of the files that streams read. */
    private final Map<String, String> names = new HashMap<>();

    private final Map<String, S3EInputStream> streams = new HashMap<>();

    Engine(ColumnarMode mode) {
      S3EConfig config = S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).columnar(mode).build();
      s3e = S3E.create(config, budget, granted -> client);
    }

    /** How many calls had to ask for what they read. */
    int play(Recording recording, OpenOptions options) throws Exception {
      int asked = 0;
      for (Call call : recording.calls()) {
        long before = demanded();
        play(call, options);
        asked += demanded() > before ? 1 : 0;
        Eventually.awaitTrue("all GETs are answered", () -> client.active() == 0);
      }
      streams.values().forEach(S3EInputStream::close);
      return asked;
    }

    /** Reads another object from front to end. */
    void scan(int size) throws Exception {
      ObjectRef object = new ObjectRef("bucket", "scan");
      client.put(object, MemoryObjectClient.bytes(size, 6), ETAG);
      OpenOptions options = OpenOptions.DEFAULTS.withSize(size).withVersion(ETAG, null);
      byte[] buffer = new byte[1 << 20];
      try (S3EInputStream in = s3e.open(object, options.withPolicy(ReadPolicy.SEQUENTIAL))) {
        for (int at = 0; at < size; at += buffer.length) {
          in.readFully(buffer, 0, buffer.length);
        }
      }
    }

    private long demanded() {
      return s3e.metrics().get(Counter.GETS) - s3e.metrics().get(Counter.PREFETCH_GETS);
    }

    /** Blocks of a file that GETs asked for, each once. */
    long fetchedBlocks(String file) {
      return client.gets().stream()
          .filter(get -> get.object().key().equals(file))
          .map(get -> get.range())
          .flatMapToLong(
              range -> LongStream.rangeClosed(range.start() / BLOCK, (range.end() - 1) / BLOCK))
          .distinct()
          .count();
    }

    List<ByteRange> ranges() {
      return client.gets().stream().map(get -> get.range()).toList();
    }

    private void play(Call call, OpenOptions options) throws Exception {
      switch (call.kind()) {
        case OPEN -> streams.put(call.stream(), open(call, options));
        case READ, POSITIONED -> {
          ByteRange range = call.ranges().get(0);
          byte[] bytes = new byte[(int) range.length()];
          S3EInputStream in = streams.get(call.stream());
          if (call.kind() == Recording.Kind.READ) {
            in.seek(range.start());
            in.readFully(bytes, 0, bytes.length);
          } else {
            in.readFullyAt(range.start(), bytes, 0, bytes.length);
          }
          assertThat(bytes).isEqualTo(expected(call, range));
        }
        case VECTORED -> {
          List<CompletableFuture<ByteBuffer>> read =
              streams
                  .get(call.stream())
                  .readVectored(call.ranges(), ByteBuffer::allocate, buffer -> {});
          for (int i = 0; i < read.size(); i++) {
            ByteBuffer bytes = read.get(i).get(30, TimeUnit.SECONDS);
            assertThat(bytes).isEqualTo(ByteBuffer.wrap(expected(call, call.ranges().get(i))));
          }
        }
        case SEEK -> streams.get(call.stream()).seek(call.ranges().get(0).start());
        case CLOSE -> streams.get(call.stream()).close();
      }
    }

    private byte[] expected(Call call, ByteRange range) {
      byte[] content = contents.get(names.get(call.stream()));
      return Arrays.copyOfRange(content, (int) range.start(), (int) range.end());
    }

    private S3EInputStream open(Call call, OpenOptions options) throws Exception {
      ObjectRef object = new ObjectRef("bucket", call.file());
      names.put(call.stream(), call.file());
      byte[] content = contents.computeIfAbsent(call.file(), this::content);
      client.put(object, content, ETAG);
      return s3e.open(
          object,
          options
              .withSize(content.length)
              .withVersion(ETAG, null)
              .withPolicy(call.isVectoring() ? ReadPolicy.RANDOM : ReadPolicy.ADAPTIVE));
    }

    private byte[] content(String name) {
      RecordedFiles.File known = files.get(name);
      RecordedFiles.File file = known == null ? RecordedFiles.lineitem() : known;
      byte[] content = MemoryObjectClient.bytes((int) file.size(), 5);
      System.arraycopy(
          file.last(), 0, content, content.length - file.last().length, file.last().length);
      file.parts()
          .forEach(
              (start, part) ->
                  System.arraycopy(part, 0, content, Math.toIntExact(start), part.length));
      return content;
    }

    @Override
    public void close() {
      s3e.close();
      assertThat(budget.reserved()).as("bytes still reserved").isZero();
    }
  }
}
