// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.jvm.Background;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AWS CRT of this JVM: where it comes from, whether it can be used, and the clients over it. No
 * method lets a linkage error out.
 *
 * <p>In S3E's bundle jar the CRT is one that S3E keeps to itself: {@link CrtLoader}. Elsewhere it
 * is the class path's. Either is looked at before it is used: {@link CrtFinding}.
 *
 * <p>A linkage error that comes up all the same (a jar that was replaced under a running JVM) makes
 * the CRT unusable from then on.
 */
public final class CrtLibrary {
  private static final Logger LOG = LoggerFactory.getLogger(CrtLibrary.class);
  private static final String OWN = "the aws-crt of S3E's bundle jar";

  /** Some hundred times what it takes to unpack and to load the native library. */
  private static final long LOOK_MILLIS = 60_000;

  private static final Look LOOK = new Look(() -> within(LOOK_MILLIS, CrtLibrary::find));

  private static volatile @Nullable String broken;

  /** Looks once: to load the native library has side effects, and the outcome stays. */
  static final class Look {
    private final Supplier<CrtFinding> look;
    private @Nullable CrtFinding found;

    Look(Supplier<CrtFinding> look) {
      this.look = look;
    }

    synchronized CrtFinding found() {
      if (found == null) {
        try {
          found = look.get();
        } catch (OutOfMemoryError e) {
          // The system has no thread to give; it may have one for the next who asks.
          return CrtFinding.unusable("aws-crt", "nobody can look for the native library: " + e);
        }
      }
      return found;
    }
  }

  private CrtLibrary() {}

  /** What is found; a CRT that cannot be used where the look hangs, as at a dead disk. */
  static CrtFinding within(long millis, Supplier<CrtFinding> look) {
    CompletableFuture<CrtFinding> found = new CompletableFuture<>();
    Thread looking = Background.start("s3e-crt-look", () -> found.complete(look.get()));
    boolean unused = Background.await(looking, millis);
    String problem = "the native library of aws-crt was not loaded within " + millis + " ms";
    return found.getNow(CrtFinding.unusable("aws-crt", problem));
  }

  private static CrtFinding find() {
    CrtFinding finding;
    try {
      CrtLoader own = CrtLoader.overBundle();
      finding = CrtFinding.in(own != null ? own : CrtLibrary.class.getClassLoader(), own != null);
    } catch (IOException e) {
      finding = CrtFinding.unusable(OWN, String.valueOf(e.getMessage()));
    } catch (ReflectiveOperationException | RuntimeException | Error e) {
      finding = CrtFinding.unusable(OWN, OWN + " cannot be looked at: " + e);
    }
    LOG.debug("Found {}", finding);
    return finding;
  }

  /**
   * Why the CRT cannot be used, in words for a log line that name the jar; null if it can. The
   * first call unpacks and loads the native library.
   */
  public static @Nullable String unusableBecause() {
    String since = broken;
    return since != null ? since : LOOK.found().problem();
  }

  /** Version, jar and kind of class loader, in words for a log line. */
  public static String description() {
    return LOOK.found().origin();
  }

  /**
   * As {@link CrtClients#open}.
   *
   * @throws CrtUnusableException if {@link #unusableBecause()} is not null, or turns out so
   */
  public static ObjectClient open(CrtSettings settings, ClientMemory memory) {
    CrtFinding found = LOOK.found();
    CrtClients clients = found.clients();
    String problem = broken != null ? broken : found.problem();
    if (problem != null || clients == null) {
      throw new CrtUnusableException(String.valueOf(problem), null);
    }
    try {
      return clients.open(settings, memory);
    } catch (LinkageError e) {
      throw broken(e);
    }
  }

  /** Notes that the CRT failed to link in the middle of its use; later callers are told why. */
  public static CrtUnusableException broken(LinkageError error) {
    String reason = LOOK.found().origin() + " fails to link: " + error;
    broken = reason;
    return new CrtUnusableException(reason, error);
  }
}
