package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.columnar.Ledger.Kind;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.BlockPieces;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The blocks of one stream that were guessed and are neither read, refused nor abandoned; those
 * that were read lately; and those that were abandoned since the last plan. Settles each guess with
 * its ledger when the last of its blocks is gone, and tells the listener of each block. Not
 * thread-safe.
 *
 * <p>Invariant: a block is asked for at most once until it is read, taken back or abandoned; and
 * not while it counts as read lately.
 */
final class Guesses {
  /** Pieces that were read lately; enough for the chunks of one group that lie apart. */
  private static final int MAX_READ_PIECES = 512;

  /** A tail of so many bytes comes by the same GET as the read. */
  private static final long FREE_TAIL_BYTES = TailMemory.NEAR_END_BYTES;

  /** Whose blocks were read. */
  private enum Reader {
    ANY
  }

  /** A run that was asked for. */
  static final class Guess {
    private final Kind kind;
    private final Ledger ledger;
    private long left;
    private long used;
    private long wasted;

    Guess(Kind kind, Ledger ledger, long blocks) {
      this.kind = kind;
      this.ledger = ledger;
      this.left = blocks;
    }

    Kind kind() {
      return kind;
    }
  }

  private final BlockLayout layout;
  private final ColumnarListener listener;
  private final BlockPieces<Guess> out = new BlockPieces<>();
  private BlockPieces<Reader> read = new BlockPieces<>();
  private List<BlockRange> abandoned = new ArrayList<>();
  private int runs;

  Guesses(BlockLayout layout, ColumnarListener listener) {
    this.layout = layout;
    this.listener = listener;
  }

  /** Number of blocks that are out. */
  long count() {
    return out.count();
  }

  /** Number of guesses that are out, in whole or in part. */
  int runs() {
    return runs;
  }

  boolean contains(long block) {
    return out.contains(block);
  }

  /** The parts of {@code run} that are neither out nor read lately, in order. */
  List<BlockRange> missingFrom(BlockRange run) {
    List<BlockRange> missing = new ArrayList<>();
    for (BlockRange each : out.missingFrom(run)) {
      missing.addAll(read.missingFrom(each));
    }
    return missing;
  }

  /** Records {@code run}, none of which is out, as asked for. */
  void add(BlockRange run, Kind kind, Ledger ledger) {
    out.add(run, new Guess(kind, ledger, run.count()));
    runs++;
    count(Counter.COLUMNAR_ASKED_BYTES, run);
  }

  /** A read takes {@code run}: whatever of it is out was worth its fetch; how many blocks. */
  long use(BlockRange run) {
    long used =
        out.take(
            run,
            each -> true,
            (piece, guess) -> {
              guess.used += piece.count();
              count(guess.kind.used(), piece);
              gone(guess, piece.count());
            });
    if (read.pieces() > MAX_READ_PIECES) {
      read = new BlockPieces<>();
    }
    for (BlockRange missing : read.missingFrom(run)) {
      read.add(missing, Reader.ANY);
    }
    return used;
  }

  /** The reader has gone on to another group: what it read before counts no longer. */
  void forgetReadBefore(long block) {
    if (block > 0) {
      read.take(new BlockRange(0, block), each -> true, (piece, reader) -> {});
    }
  }

  /** Blocks of {@code run} were not sent or did not come; how many. */
  long takeBack(BlockRange run) {
    return out.take(
        run,
        each -> true,
        (piece, guess) -> {
          count(Counter.COLUMNAR_WITHDRAWN_BYTES, piece);
          gone(guess, piece.count());
        });
  }

  /** Abandons what is out of {@code run} by such guesses: nobody came to read it. */
  void abandon(BlockRange run, Predicate<Guess> such) {
    out.take(
        run,
        such,
        (piece, guess) -> {
          guess.wasted += piece.count();
          count(guess.kind.wasted(), piece);
          abandoned.add(piece);
          gone(guess, piece.count());
        });
  }

  void abandonAll() {
    abandon(new BlockRange(0, Math.max(0, layout.blocks())), each -> true);
    read = new BlockPieces<>();
  }

  /** Whether {@link #takeAbandoned} has something to tell. */
  boolean hasAbandoned() {
    return !abandoned.isEmpty();
  }

  /** The runs abandoned since this was called last. */
  List<BlockRange> takeAbandoned() {
    if (abandoned.isEmpty()) {
      return List.of();
    }
    List<BlockRange> taken = abandoned;
    abandoned = new ArrayList<>();
    return taken;
  }

  private void count(Counter counter, BlockRange run) {
    listener.onCounted(counter, layout.bytesOf(run).length());
  }

  private void gone(Guess guess, long blocks) {
    guess.left -= blocks;
    if (guess.left > 0) {
      return;
    }
    runs--;
    long used = guess.used * layout.blockSize();
    long wasted = guess.wasted * layout.blockSize();
    if (guess.kind == Kind.TAIL) {
      // Nobody reads all of a tail: one that holds a footer has saved a round trip.
      boolean isFree = used + wasted <= FREE_TAIL_BYTES;
      used = isFree || used == 0 ? 0 : used + wasted;
      wasted = isFree || used > 0 ? 0 : wasted;
    }
    if (used + wasted > 0) {
      guess.ledger.settle(guess.kind, used, wasted);
    }
  }
}
