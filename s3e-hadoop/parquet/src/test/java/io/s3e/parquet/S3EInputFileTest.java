// SPDX-License-Identifier: Apache-2.0
package io.s3e.parquet;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.parquet.example.CountRows;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.parquet.bytes.ByteBufferAllocator;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.ParquetFileRange;
import org.apache.parquet.io.SeekableInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real files of Parquet, read by parquet-java from a store and from local disk. */
class S3EInputFileTest {
  private static final ObjectRef OBJECT = new ObjectRef("lake", "data/rows.parquet");
  private static final ObjectRef MISSING = new ObjectRef("lake", "data/none.parquet");

  @TempDir private static Path directory;
  private static Path local;
  private static byte[] bytes;

  private HostileS3Server server;
  private S3E engine;

  @BeforeAll
  static void write() throws IOException {
    local = Samples.write(directory.resolve("rows.parquet"));
    bytes = Files.readAllBytes(local);
  }

  @BeforeEach
  void start() throws IOException {
    server = HostileS3Server.startApart();
    server.put(OBJECT, bytes);
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(server.endpoint())
            .region("us-east-1")
            .pathStyle(true)
            .credentials(CredentialsSource.of("key", "secret"))
            .build();
    engine = S3E.create(S3EConfig.DEFAULTS, new MemoryBudget(64L << 20), AwsClients.crt(settings));
  }

  @AfterEach
  void stop() throws IOException {
    engine.close();
    server.close();
  }

  private InputFile file() {
    return S3EInputFile.of(engine, OBJECT);
  }

  private long heads() {
    return server.requests().stream().filter(request -> request.method().equals("HEAD")).count();
  }

  @Slow
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void rowsEqualThoseOfTheLocalFile(boolean isVectored) throws Exception {
    for (String[] columns :
        new String[][] {{"id", "left", "hash", "right"}, {"id", "hash"}, {"right"}}) {
      assertThat(Samples.digest(file(), isVectored, columns))
          .isEqualTo(Samples.digest(new LocalInputFile(local), isVectored, columns))
          .startsWith(Samples.ROWS + " rows");
    }
  }

  /** One HEAD for the length, and no request for the columns that are not wanted. */
  @Test
  void aFewColumnsAreAFewRequests() throws Exception {
    Samples.digest(file(), true, "id", "hash");
    assertThat(heads()).isEqualTo(1);
    assertThat(server.gets()).hasSizeBetween(2, 20);
    assertThat(server.gets())
        .allSatisfy(
            get ->
                assertThat(get.header("If-Match"))
                    .as("the version that the HEAD has told")
                    .isNotNull());
  }

  @Test
  void aLengthThatIsKnownSparesTheHead() throws Exception {
    InputFile file = S3EInputFile.of(engine, OBJECT, OpenOptions.DEFAULTS.withSize(bytes.length));
    assertThat(file.getLength()).isEqualTo(bytes.length);
    Samples.digest(file, true, "id");
    assertThat(heads()).isZero();
  }

  @Test
  void everyWayToReadGivesTheBytes() throws Exception {
    try (SeekableInputStream in = file().newStream()) {
      assertThat(in.read()).isEqualTo(bytes[0] & 0xff);
      in.seek(1000);
      byte[] some = new byte[5000];
      in.readFully(some);
      assertThat(some).isEqualTo(slice(1000, 5000));
      in.readFully(some, 10, 100);
      assertThat(Arrays.copyOfRange(some, 10, 110)).isEqualTo(slice(6000, 100));
      assertThat(in.getPos()).isEqualTo(6100);
      for (ByteBuffer buffer : List.of(ByteBuffer.allocate(70), ByteBuffer.allocateDirect(70))) {
        in.seek(2_000_000);
        in.readFully(buffer);
        assertThat(buffer.hasRemaining()).isFalse();
        assertThat(content(buffer.flip())).isEqualTo(slice(2_000_000, 70));
        assertThat(in.getPos()).isEqualTo(2_000_070);
        buffer.clear();
        assertThat(in.read(buffer)).isPositive();
      }
      in.seek(bytes.length);
      assertThat(in.read()).isEqualTo(-1);
      assertThat(in.read(ByteBuffer.allocate(1))).isEqualTo(-1);
      in.seek(bytes.length - 3);
      assertThatThrownBy(() -> in.readFully(new byte[4])).isInstanceOf(EOFException.class);
      in.seek(bytes.length - 3);
      assertThatThrownBy(() -> in.readFully(ByteBuffer.allocate(4)))
          .isInstanceOf(EOFException.class);
    }
  }

  /** Buffers are those of the reader's allocator, and those of failed ranges go back to it. */
  @Test
  void rangesComeInTheReadersBuffers() throws Exception {
    Counting allocator = new Counting();
    List<ParquetFileRange> ranges = ranges();
    try (SeekableInputStream in = file().newStream()) {
      assertThat(in.readVectoredAvailable(allocator)).isTrue();
      in.readVectored(ranges, allocator);
      for (ParquetFileRange range : ranges) {
        ByteBuffer read = range.getDataReadFuture().get(30, TimeUnit.SECONDS);
        assertThat(content(read)).isEqualTo(slice((int) range.getOffset(), range.getLength()));
      }
      assertThat(allocator.allocated.get()).isEqualTo(ranges.size());
      assertThat(allocator.released.get()).isZero();
    }
  }

  @Test
  void aRangeBehindTheEndFailsBeforeAnyIsAskedFor() throws Exception {
    List<ParquetFileRange> ranges = ranges();
    ranges.add(new ParquetFileRange(bytes.length - 10, 11));
    try (SeekableInputStream in = file().newStream()) {
      assertThatThrownBy(() -> in.readVectored(ranges, HeapByteBufferAllocator.getInstance()))
          .isInstanceOf(EOFException.class)
          .hasMessageContaining(OBJECT.key());
      assertThat(server.gets()).isEmpty();
    }
  }

  @Test
  void aClosedStreamReadsNothing() throws Exception {
    SeekableInputStream in = file().newStream();
    in.close();
    in.close();
    assertThatThrownBy(in::read).isInstanceOf(IOException.class).hasMessageContaining("closed");
    assertThatThrownBy(() -> in.readFully(ByteBuffer.allocate(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> in.readVectored(ranges(), HeapByteBufferAllocator.getInstance()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
    assertThat(server.gets()).isEmpty();
  }

  @Test
  void aMissingObjectIsAFileThatIsNotFound() throws Exception {
    InputFile unknown = S3EInputFile.of(engine, MISSING);
    assertThatThrownBy(unknown::getLength)
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining(MISSING.key());
    assertThatThrownBy(unknown::newStream).isInstanceOf(FileNotFoundException.class);
    InputFile told = S3EInputFile.of(engine, MISSING, OpenOptions.DEFAULTS.withSize(1000));
    try (SeekableInputStream in = told.newStream()) {
      assertThatThrownBy(in::read)
          .isInstanceOf(FileNotFoundException.class)
          .hasMessageContaining(MISSING.key());
      List<ParquetFileRange> ranges = List.of(new ParquetFileRange(0, 10));
      in.readVectored(ranges, HeapByteBufferAllocator.getInstance());
      assertThatThrownBy(() -> ranges.get(0).getDataReadFuture().get(30, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining(MISSING.key());
    }
  }

  /** Footer by one stream and data by another, with the object overwritten in between. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void streamsOfAFileReadOneVersion(boolean isLengthKnown) throws Exception {
    InputFile file =
        S3EInputFile.of(
            engine, OBJECT, OpenOptions.DEFAULTS.withSize(isLengthKnown ? bytes.length : -1));
    try (SeekableInputStream in = file.newStream()) {
      assertThat(in.read()).isEqualTo(bytes[0] & 0xff);
    }
    overwrite();
    try (SeekableInputStream in = file.newStream()) {
      in.seek(2_000_000);
      assertThatThrownBy(in::read).isInstanceOf(ObjectChangedException.class);
    }
  }

  /** Footer by ranges alone, as parquet-java's vectored reader may. */
  @Test
  void aStreamThatReadsRangesAloneSettlesTheVersion() throws Exception {
    InputFile file = S3EInputFile.of(engine, OBJECT, OpenOptions.DEFAULTS.withSize(bytes.length));
    try (SeekableInputStream in = file.newStream()) {
      List<ParquetFileRange> ranges = ranges();
      in.readVectored(ranges, HeapByteBufferAllocator.getInstance());
      for (ParquetFileRange range : ranges) {
        ByteBuffer read = range.getDataReadFuture().get(30, TimeUnit.SECONDS);
        assertThat(content(read)).isEqualTo(slice((int) range.getOffset(), range.getLength()));
      }
    }
    overwrite();
    try (SeekableInputStream in = file.newStream()) {
      in.seek(2_000_000);
      assertThatThrownBy(in::read).isInstanceOf(ObjectChangedException.class);
    }
  }

  /** Neither was told a version when it was opened, and each has a first answer of its own. */
  @Test
  void streamsThatAreOpenBeforeTheFirstReadReadOneVersion() throws Exception {
    InputFile file = S3EInputFile.of(engine, OBJECT, OpenOptions.DEFAULTS.withSize(bytes.length));
    Counting allocator = new Counting();
    List<ParquetFileRange> ranges = ranges();
    try (SeekableInputStream first = file.newStream();
        SeekableInputStream second = file.newStream();
        SeekableInputStream third = file.newStream()) {
      assertThat(first.read()).isEqualTo(bytes[0] & 0xff);
      overwrite();
      second.seek(2_000_000);
      assertThatThrownBy(second::read)
          .isInstanceOf(ObjectChangedException.class)
          .hasMessageContaining(OBJECT.key());
      assertThatThrownBy(() -> second.readFully(new byte[10]))
          .as("nor later")
          .isInstanceOf(ObjectChangedException.class);
      third.readVectored(ranges, allocator);
      for (ParquetFileRange range : ranges) {
        assertThatThrownBy(() -> range.getDataReadFuture().get(30, TimeUnit.SECONDS))
            .hasCauseInstanceOf(ObjectChangedException.class);
      }
    }
    assertThat(allocator.released.get()).isEqualTo(allocator.allocated.get());
    assertThat(allocator.allocated.get()).isEqualTo(ranges.size());
  }

  /** As by a reader that needs no more. */
  @Test
  void rangesThatAreCancelledGiveTheirBuffersBackAndEndTheirGets() throws Exception {
    Counting allocator = new Counting();
    List<ParquetFileRange> ranges = ranges();
    InputFile file = S3EInputFile.of(engine, OBJECT, OpenOptions.DEFAULTS.withSize(bytes.length));
    server.always(Fault.stallAtOnce());
    try (SeekableInputStream in = file.newStream()) {
      in.readVectored(ranges, allocator);
      awaitTrue("all GETs hang", () -> server.gets().size() >= ranges.size());
      ranges.forEach(range -> range.getDataReadFuture().cancel(true));
      awaitTrue("no GET is left", () -> server.openConnections() == 0);
      awaitTrue(
          "buffers are back",
          () ->
              allocator.released.get() == ranges.size()
                  && allocator.allocated.get() == ranges.size());
    }
  }

  private void overwrite() {
    byte[] other = bytes.clone();
    other[2_000_000]++;
    server.put(OBJECT, other);
  }

  @Test
  void theExampleRuns() throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      CountRows.main(
          new String[] {
            OBJECT.bucket(),
            OBJECT.key(),
            "hash",
            "key",
            "secret",
            "us-east-1",
            server.endpoint().toString()
          });
    } finally {
      System.setOut(before);
    }
    assertThat(said.toString(StandardCharsets.UTF_8)).contains("hash: " + Samples.ROWS + " rows");
  }

  private static List<ParquetFileRange> ranges() {
    List<ParquetFileRange> ranges = new ArrayList<>();
    for (int start : new int[] {4_000_000, 10, 1_000_000, 2_500_000}) {
      ranges.add(new ParquetFileRange(start, 100_000));
    }
    return ranges;
  }

  private static byte[] slice(int from, int length) {
    return Arrays.copyOfRange(bytes, from, from + length);
  }

  private static byte[] content(ByteBuffer buffer) {
    byte[] read = new byte[buffer.remaining()];
    buffer.get(read);
    return read;
  }

  private static final class Counting implements ByteBufferAllocator {
    final AtomicInteger allocated = new AtomicInteger();
    final AtomicInteger released = new AtomicInteger();

    @Override
    public ByteBuffer allocate(int size) {
      allocated.incrementAndGet();
      return ByteBuffer.allocate(size);
    }

    @Override
    public void release(ByteBuffer buffer) {
      released.incrementAndGet();
    }

    @Override
    public boolean isDirect() {
      return false;
    }
  }
}
