// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.PlaceFacts.FileShape;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.RequestSizing;
import io.s3e.prefetch.TableLedger;
import java.util.List;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How one stream comes to know the layout of its file: it is remembered, or the last bytes say
 * where the footer is, and the footer says the rest. Not thread-safe.
 *
 * <p>It wants the last bytes first, then the footer; it is done with a layout or none, and after
 * the last bytes if the object is no columnar file or in any doubt.
 */
final class FooterReading {
  private final LayoutMemory memory;

  /** What other JVMs have learnt, for where this one has learnt nothing; null if nothing. */
  private final @Nullable LayoutMemory past;

  /** What is known of files beside this one. */
  private final LayoutMemory.Directory place;

  /** The stream's guesses of what is not known of a file, of the account of its place. */
  private final TableLedger.OfStream guesses;

  private final ObjLongConsumer<Counter> listener;
  private ObjectVersion version;

  /** Another stream may have read the layout of the version, and nobody has looked. */
  private boolean mayBeRemembered = true;

  /** What the last bytes said; null before, and if they said nothing. */
  private @Nullable FileTail tail;

  /** Nothing is to be read any more; without a layout, there will be none. */
  boolean isDone;

  /** The reader has come near the end since the stream was reset: the footer is to be seen. */
  private boolean isAtEnd;

  FooterReading(
      LayoutMemory memory,
      @Nullable LayoutMemory past,
      ObjectVersion version,
      ObjLongConsumer<Counter> listener) {
    this.memory = memory;
    this.past = past;
    this.version = version;
    this.place = memory.place(version.object());
    this.guesses = place.ledger().ofStream();
    this.listener = listener;
  }

  void identify(ObjectVersion identified) {
    mayBeRemembered |= !identified.equals(version);
    version = identified;
  }

  /** The layout that another stream has read; null if none did, or if that was told before. */
  @Nullable FileLayout remembered() {
    boolean looks = mayBeRemembered && !isDone;
    mayBeRemembered = false;
    return looks ? memory.layout(version) : null;
  }

  /** What streams read of the table whose layout this is. */
  TableMemory table(FileLayout layout) {
    return memory.table(version.object(), layout.schema);
  }

  /** As {@link #table}, in other JVMs; null if that is not known. */
  @Nullable TableMemory pastTable(FileLayout layout) {
    return past == null ? null : past.table(version.object(), layout.schema);
  }

  private TailMemory tails() {
    TailMemory mine = place.tails();
    return past == null || !mine.isNew() ? mine : past.place(version.object()).tails();
  }

  private AlikeFiles alike() {
    AlikeFiles mine = place.alike();
    return past == null || !mine.isNew() ? mine : past.place(version.object()).alike();
  }

  /** Whether a read at {@code position} is one of a footer, if there is one. */
  boolean isNearEnd(long position) {
    boolean isNear = position >= version.size() - TailMemory.NEAR_END_BYTES;
    isAtEnd |= isNear;
    return isNear;
  }

  void reset() {
    isAtEnd = false;
    mayBeRemembered = true;
  }

  /**
   * Asks for what is missing of the tail in front of a first read near the end; and for the data
   * that readers of files alike have read, where a layout does not say that there is more of it.
   */
  void ask(BlockRange read, @Nullable FileLayout layout, Wanted wanted) {
    long size = version.size();
    if (size <= RequestSizing.SMALL_OBJECT_BYTES) {
      return;
    }
    long bytes = layout == null ? tails().bytesOf(size) : size - layout.footerStart;
    BlockRange end = wanted.grid.covering(Math.max(0, size - bytes), size);
    if (bytes > 0 && end.first() < read.first() && guesses.admits(GuessKind.TAIL)) {
      BlockRange before = new BlockRange(end.first(), read.first());
      wanted.add(List.of(before), GuessKind.TAIL, guesses);
    }
    boolean isOne = layout == null || layout.groups == 1;
    List<BlockRange> alike = isOne ? alike().guess(wanted.grid) : List.of();
    if (!alike.isEmpty() && guesses.admits(GuessKind.ALIKE)) {
      wanted.openFor(wanted.count() + BlockRange.count(alike));
      wanted.add(alike, GuessKind.ALIKE, guesses);
    }
  }

  /** A stream that began at the end has read that data, whole chunks of a group; or other data. */
  void remember(FileLayout layout, List<ByteRange> data) {
    FileShape shape = new FileShape(version.size(), layout.dataEnd(), List.copyOf(data));
    AlikeFiles believed = alike();
    place.alike().onRead(shape);
    if (believed != place.alike()) {
      believed.onRead(shape);
    }
  }

  /** The bytes to be seen next; null if none. */
  @Nullable ByteRange wants() {
    long size = version.size();
    if (isDone || !isAtEnd) {
      return null;
    }
    return tail == null
        ? new ByteRange(Math.max(0, size - FileTail.LAST_BYTES), size)
        : tail.footer();
  }

  /** The bytes that were wanted: the layout, or null if it takes more or this is done without. */
  @Nullable FileLayout onBytes(byte[] bytes, OrcCodecs codecs) {
    TailMemory tails = place.tails();
    FileTail known = tail;
    isDone = true;
    try {
      if (known != null) {
        long size = version.size();
        tails.footer(size - known.footer().start(), size);
        FileLayout layout = known.layout(bytes, codecs);
        listener.accept(Counter.COLUMNAR_FOOTERS, 1);
        return memory.keep(version, layout);
      }
      tail = FileTail.of(bytes, version.size());
      isDone = tail == null;
      if (isDone) {
        tails.noFooter();
      }
    } catch (MalformedException e) {
      listener.accept(Counter.COLUMNAR_FOOTERS_REFUSED, 1);
    }
    return null;
  }
}
