package io.s3e.disk;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one engine in one directory. Several fetches may stand behind one: the pieces of a
 * disk block that are fetched at once. A claim may be given back when the last of them is over. Any
 * thread.
 */
final class HeldClaims {
  private record Held(Claim claim, int fetches) {}

  private final ConcurrentMap<DiskBlockId, Held> held = new ConcurrentHashMap<>();

  /** One more fetch stands behind the claim of a block; false if there is none. */
  boolean join(DiskBlockId id) {
    return held.computeIfPresent(id, (key, now) -> new Held(now.claim, now.fetches + 1)) != null;
  }

  /**
   * A fetch has got the claim of a block.
   *
   * @return false if another was quicker, which cannot be if claims are exclusive; the fetch then
   *     stands behind that one, and {@code claim} is the caller's to release
   */
  boolean hold(DiskBlockId id, Claim claim) {
    Held now =
        held.merge(id, new Held(claim, 1), (old, added) -> new Held(old.claim, old.fetches + 1));
    return now.claim == claim;
  }

  /** One fetch fewer; true if it was the last. */
  boolean leave(DiskBlockId id) {
    Held now =
        held.computeIfPresent(
            id, (key, before) -> new Held(before.claim, Math.max(0, before.fetches - 1)));
    return now != null && now.fetches == 0;
  }

  /** Takes out all claims, whatever stands behind them. */
  List<Claim> takeAll() {
    List<Claim> all = held.values().stream().map(Held::claim).toList();
    held.clear();
    return all;
  }

  /** Takes out the claim of a block that nothing more is fetched of; null if there is none. */
  @Nullable Claim takeIdle(DiskBlockId id) {
    Held now = held.get(id);
    return now != null && now.fetches == 0 && held.remove(id, now) ? now.claim : null;
  }
}
