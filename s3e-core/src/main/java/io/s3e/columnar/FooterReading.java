package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.RequestSizing;
import io.s3e.prefetch.TableLedger;
import java.util.List;
import java.util.Objects;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How one stream comes to know the layout of its file: it is remembered, or the last bytes say
 * where the footer is, and the footer says the rest. Not thread-safe.
 *
 * <p><b>States</b>, each moved once: LAST_BYTES → FOOTER → DONE, with a layout or none; from
 * LAST_BYTES to DONE at once if the object is no columnar file or in any doubt.
 */
final class FooterReading {
  private enum State {
    LAST_BYTES,
    FOOTER,
    DONE
  }

  private final BlockLayout blocks;
  private final LayoutMemory memory;
  private final OrcCodecs codecs;
  private final ObjLongConsumer<Counter> listener;
  private ObjectVersion version;
  private State state = State.LAST_BYTES;

  /** Known from FOOTER on. */
  private TableLedger.@Nullable OfStream guesses;

  private @Nullable FileTail tail;

  FooterReading(
      BlockLayout blocks,
      LayoutMemory memory,
      ObjectVersion version,
      OrcCodecs codecs,
      ObjLongConsumer<Counter> listener) {
    this.blocks = blocks;
    this.memory = memory;
    this.version = version;
    this.codecs = codecs;
    this.listener = listener;
  }

  /** The ETag of the version has become known. */
  void identify(ObjectVersion identified) {
    version = Objects.requireNonNull(identified, "identified");
  }

  /** The layout that another stream has read; null if none did. */
  @Nullable FileLayout remembered() {
    return memory.layout(version);
  }

  /** What streams read of the table whose layout this is. */
  TableMemory table(FileLayout layout) {
    return memory.table(version.object(), layout.schema());
  }

  private LayoutMemory.Directory place() {
    return memory.place(version.object());
  }

  /** The stream's guesses of what is not known of a file, of the account of its place. */
  TableLedger.OfStream guesses() {
    TableLedger.OfStream mine = guesses;
    if (mine == null) {
      mine = place().ledger().ofStream();
      guesses = mine;
    }
    return mine;
  }

  /** Whether a first read at {@code position} asks for a footer. */
  boolean isNearEnd(long position) {
    return position >= blocks.objectSize() - TailMemory.NEAR_END_BYTES;
  }

  /** Asks for what is missing of the tail in front of a first read near the end. */
  void ask(BlockRange read, @Nullable FileLayout layout, Wanted wanted) {
    long size = blocks.objectSize();
    long bytes = layout == null ? place().tails().bytesOf(size) : size - layout.footerStart();
    if (size > RequestSizing.SMALL_OBJECT_BYTES && bytes > 0) {
      BlockRange end = blocks.covering(Math.max(0, size - bytes), size);
      if (end.first() < read.first()) {
        BlockRange before = new BlockRange(end.first(), read.first());
        wanted.add(List.of(before), GuessKind.TAIL, guesses());
      }
    }
  }

  /** The data that readers of files alike have read; none if there is any doubt. */
  List<BlockRange> expected() {
    boolean isWhole = blocks.objectSize() <= RequestSizing.SMALL_OBJECT_BYTES;
    return isWhole ? List.of() : place().alike().guess(blocks);
  }

  /**
   * A stream that began at the end has read that data, whole chunks of one group; or other data.
   */
  void remember(FileLayout layout, List<ByteRange> data) {
    place().alike().onRead(blocks.objectSize(), layout.dataEnd(), data);
  }

  /** The bytes to be seen next; null if none. */
  @Nullable ByteRange wants() {
    long size = blocks.objectSize();
    return switch (state) {
      case LAST_BYTES -> new ByteRange(Math.max(0, size - FileTail.LAST_BYTES), size);
      case FOOTER -> Objects.requireNonNull(tail).footer();
      case DONE -> null;
    };
  }

  /** Whether nothing is to be read any more. */
  boolean isDone() {
    return state == State.DONE;
  }

  /**
   * The bytes that were {@linkplain #wants wanted}.
   *
   * @return the layout; null if it takes more bytes, or if there is none and this is done
   */
  @Nullable FileLayout onBytes(byte[] bytes) {
    TailMemory tails = place().tails();
    boolean isFooter = state == State.FOOTER;
    state = State.DONE;
    try {
      if (isFooter) {
        FileTail known = Objects.requireNonNull(tail);
        tails.footer(blocks.objectSize() - known.footer().start());
        FileLayout parsed = known.layout(bytes, codecs);
        listener.accept(
            parsed == null ? Counter.COLUMNAR_FOOTERS_REFUSED : Counter.COLUMNAR_FOOTERS, 1);
        return parsed == null ? null : memory.keep(version, parsed);
      }
      tail = FileTail.of(bytes, blocks.objectSize());
      if (tail == null) {
        tails.noFooter();
      } else {
        state = State.FOOTER;
      }
    } catch (MalformedException e) {
      listener.accept(Counter.COLUMNAR_FOOTERS_REFUSED, 1);
    }
    return null;
  }
}
