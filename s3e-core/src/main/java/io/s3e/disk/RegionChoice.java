package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The order in which shared regions are taken: those that were never used, those of the same kind
 * that another has left half full, then the one that began longest ago. Scans have a fifth of them.
 *
 * <p>Nothing is locked here, so another process may be first: {@link SharedRegions#next} looks
 * again once it has the lock. The appending thread's.
 */
final class RegionChoice {
  /**
   * A region that is to be recycled when there is need.
   *
   * @param generation that it had when it was chosen
   */
  private record Victim(SharedRegion shared, int generation) {}

  private final List<SharedRegion> all;
  private final DiskSpace space;
  private @Nullable Victim victim;

  /**
   * @param all the regions of the directory, which may still come
   * @param space asked before a region is used for the first time
   */
  RegionChoice(List<SharedRegion> all, DiskSpace space) {
    this.all = all;
    this.space = space;
  }

  /** Regions that were never used, if such a one may be used for a kind. */
  List<SharedRegion> unused(Kind kind) {
    boolean mayTake = kind == Kind.LASTING || scanned() < scannedShare();
    List<SharedRegion> unused =
        mayTake
            ? all.stream().filter(shared -> shared.region().generation() == 0).toList()
            : List.of();
    return unused.isEmpty() || !space.mayGrow() ? List.of() : unused;
  }

  /** Regions of a kind that another has left half full. */
  List<SharedRegion> halfFull(Kind kind) {
    return all.stream().filter(shared -> shared.isHalfFull(kind)).toList();
  }

  /**
   * Regions that may be recycled for a kind: the one that was noted as victim, then the one that
   * began longest ago. The note is gone.
   */
  List<SharedRegion> recyclable(Kind kind) {
    List<SharedRegion> candidates = oldestFirst(kind);
    Victim chosen = victim;
    victim = null;
    if (chosen != null
        && chosen.shared().region().generation() == chosen.generation()
        && candidates.remove(chosen.shared())) {
      candidates.add(0, chosen.shared());
    }
    return candidates;
  }

  /**
   * As {@link Regions#victim}. Chosen without its lock, as nothing of it goes before {@link
   * SharedRegions#next} finds no other: if another process recycles it before, another region is
   * taken then.
   */
  @Nullable Region victim(Kind kind) {
    List<SharedRegion> candidates = unused(kind).isEmpty() ? oldestFirst(kind) : List.of();
    return candidates.isEmpty() ? null : candidates.get(0).region();
  }

  /** Notes that a region is the next one to be recycled. */
  void note(Region chosen) {
    victim = new Victim(all.get(chosen.number()), chosen.generation());
  }

  private List<SharedRegion> oldestFirst(Kind kind) {
    boolean scannedAlone = kind == Kind.SCANNED && scanned() >= scannedShare();
    List<SharedRegion> candidates = new ArrayList<>();
    for (SharedRegion shared : all) {
      Region region = shared.region();
      boolean isOfKind = !scannedAlone || region.kind() == Kind.SCANNED;
      if (!shared.isOwn() && region.generation() != 0 && isOfKind) {
        candidates.add(shared);
      }
    }
    candidates.sort(Comparator.comparingLong(SharedRegion::beganMillis));
    return candidates;
  }

  private long scanned() {
    return all.stream()
        .map(SharedRegion::region)
        .filter(region -> region.generation() != 0 && region.kind() == Kind.SCANNED)
        .count();
  }

  private int scannedShare() {
    return Region.scannedShare(all.size());
  }
}
