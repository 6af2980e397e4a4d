package io.s3e.disk;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Chooses the files to delete (segmented LRU by the times of files). A file that was never used
 * since it was written is on probation, first in, first out; one that was used is protected, and
 * goes by when it was used last. Probation gives first, down to a fifth of the capacity: so a scan,
 * however long, takes no more than that from what is used.
 *
 * <p>The files are shown twice: first to {@link Census}, which says how much must go, then here.
 * Only those are kept in memory that would go. Pure; one thread.
 */
final class Victims {
  /** Part of the capacity that files on probation keep. */
  private static final int PROBATION_PART = 5;

  /** What a directory holds. */
  static final class Census {
    private long probation;
    private long secured;
    private long unfinished;

    void count(DiskIo.Entry file) {
      if (isOnProbation(file)) {
        probation += file.bytes();
      } else {
        secured += file.bytes();
      }
    }

    /** A file that is being written: takes space, and is nobody's to delete. */
    void countUnfinished(DiskIo.Entry file) {
      unfinished += file.bytes();
    }

    long bytes() {
      return probation + secured + unfinished;
    }

    /**
     * Those that make a directory of this size smaller.
     *
     * @param bytes what must go
     * @param capacity of the directory, in bytes
     */
    Victims victims(long bytes, long capacity) {
      long keep = Math.min(probation, capacity / PROBATION_PART);
      long fromProbation = Math.min(bytes, probation - keep);
      long fromSecured = Math.min(bytes - fromProbation, secured);
      return new Victims(bytes - fromSecured, fromSecured);
    }
  }

  private record Candidate(Path path, long bytes, long millis) {}

  /** The oldest of one kind that make up enough bytes; the youngest is at the head. */
  private static final class Oldest {
    private final PriorityQueue<Candidate> queue =
        new PriorityQueue<>(Comparator.comparingLong(Candidate::millis).reversed());
    private final long wanted;
    private long bytes;

    private Oldest(long wanted) {
      this.wanted = wanted;
    }

    private void offer(Candidate candidate) {
      Candidate youngest = queue.peek();
      if (wanted <= 0
          || (bytes >= wanted && youngest != null && youngest.millis <= candidate.millis)) {
        return;
      }
      queue.add(candidate);
      bytes += candidate.bytes;
      while ((youngest = queue.peek()) != null && bytes - youngest.bytes >= wanted) {
        queue.remove();
        bytes -= youngest.bytes;
      }
    }
  }

  /**
   * A file to be deleted.
   *
   * @param bytes that it takes
   */
  record Victim(Path path, long bytes) {}

  private final Oldest probation;
  private final Oldest secured;

  private Victims(long fromProbation, long fromSecured) {
    probation = new Oldest(fromProbation);
    secured = new Oldest(fromSecured);
  }

  static boolean isOnProbation(DiskIo.Entry file) {
    return file.usedMillis() < file.writtenMillis();
  }

  void offer(DiskIo.Entry file) {
    if (isOnProbation(file)) {
      probation.offer(new Candidate(file.path(), file.bytes(), file.writtenMillis()));
    } else {
      secured.offer(new Candidate(file.path(), file.bytes(), file.usedMillis()));
    }
  }

  /** The chosen ones, in the order they are best deleted in. */
  List<Victim> chosen() {
    List<Victim> chosen = new ArrayList<>();
    for (Oldest kind : List.of(probation, secured)) {
      kind.queue.stream()
          .sorted(Comparator.comparingLong(Candidate::millis))
          .forEach(candidate -> chosen.add(new Victim(candidate.path, candidate.bytes)));
    }
    return chosen;
  }
}
