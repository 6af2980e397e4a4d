package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.prefetch.BlockPieces;
import io.s3e.prefetch.BlockPieces.Piece;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.Wish;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What one stream wants of a columnar file ahead of its reader, in requests; and what was read
 * lately, which is not wanted again. Not thread-safe.
 *
 * <p>Invariant: a block is wanted by one request at most, and by none while it counts as read
 * lately.
 */
final class Wanted {
  /** Pieces that were read lately; enough for the chunks of one group that lie apart. */
  private static final int MAX_READ_PIECES = 512;

  /** Whose blocks were read. */
  private enum Reader {
    ANY
  }

  private final BlockPieces<Range> requests = new BlockPieces<>();
  private BlockPieces<Reader> read = new BlockPieces<>();

  /** As it was asked for last; null if something has changed since. */
  private @Nullable Wish wish;

  private Start latest = Start.NOW;

  /** Number of blocks. */
  long count() {
    return requests.count();
  }

  /** Number of requests, in whole or in part. */
  int runs() {
    return requests.pieces().size();
  }

  /** The parts of {@code run} that are neither wanted nor read lately, in order. */
  List<BlockRange> missingFrom(BlockRange run) {
    List<BlockRange> missing = new ArrayList<>();
    for (BlockRange each : requests.missingFrom(run)) {
      missing.addAll(read.missingFrom(each));
    }
    return missing;
  }

  /** Wants a request, none of whose blocks is wanted. */
  void add(Range request) {
    requests.add(request.blocks(), request);
    wish = null;
  }

  /** A read takes {@code run}; how many of its blocks were wanted. */
  long use(BlockRange run) {
    long used = take(run, kind -> true);
    if (read.pieces().size() > MAX_READ_PIECES) {
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

  /** Wants nothing of {@code run} for such reasons; how many blocks it did want. */
  long take(BlockRange run, Predicate<GuessKind> such) {
    wish = null;
    return requests.take(run, range -> such.test(range.kind()), (piece, range) -> {});
  }

  void clear() {
    take(new BlockRange(0, Long.MAX_VALUE), kind -> true);
    read = new BlockPieces<>();
  }

  /**
   * Filters, tails and indexes first: few bytes that readers need before they know what else.
   *
   * @param most {@link Start#LATER} if nothing is to be asked for now
   */
  Wish wish(Start most) {
    if (wish == null || latest != most) {
      List<Range> ranges = new ArrayList<>(requests.pieces().size());
      List<Range> data = new ArrayList<>();
      for (Piece<Range> piece : requests.pieces()) {
        Range of = piece.owner();
        boolean isData = of.kind() == GuessKind.GROUP || of.kind() == GuessKind.ALIKE;
        Start start = most == Start.LATER ? most : of.start();
        (isData ? data : ranges)
            .add(new Range(piece.blocks(), of.kind(), of.ledger(), start, of.cut()));
      }
      ranges.addAll(data);
      wish = new Wish(ranges);
      latest = most;
    }
    return wish;
  }
}
