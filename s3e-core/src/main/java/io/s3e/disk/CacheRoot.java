package io.s3e.disk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * One engine's place in one directory of the cache.
 *
 * <pre>
 * &lt;directory&gt;/s3e-cache-&lt;user&gt;/v1/&lt;instance&gt;/owners/&lt;process id&gt;-&lt;random&gt;.lock
 *                                            janitor.lock
 *                                            usage
 *                                            wanted
 *                                            tmp/  claims/  blocks/
 * </pre>
 *
 * <p>The instance is {@code private-<owner>}, {@code app-<hash of the application>} or {@code
 * host}. From {@code s3e-cache-<user>} on every directory is the user's own and for the user alone;
 * {@link DirectoryGuard} refuses what is not.
 *
 * <p>Engines of one JVM that use the same instance share a {@link Membership}: one owner lock, one
 * janitor. A private instance goes with its engine: at {@link #close()}, at the exit of the JVM,
 * or, if the process is killed, when somebody opens the same directory next.
 *
 * <p>Any thread. {@link #close()} waits for the disk for {@value Membership#LEAVE_MILLIS} ms at
 * most.
 */
final class CacheRoot implements AutoCloseable {
  static final String PRIVATE = "private-";
  static final String APP = "app-";
  static final String HOST = "host";

  /** Directory of the instances of this version of the format, below {@link DirectoryGuard#top}. */
  static final String VERSION = "v1";

  /** Times that an instance is made anew if another takes it for abandoned before it is locked. */
  private static final int ATTEMPTS = 5;

  private final Membership membership;
  private boolean closed;

  private CacheRoot(Membership membership) {
    this.membership = membership;
  }

  /**
   * Enters a directory, laying it out if needed, and starts to remove, in the background, what dead
   * processes left in it.
   *
   * @throws RefusedDirectoryException naming the path if something in the layout is a link, not a
   *     directory, somebody else's or open to others
   */
  static CacheRoot open(Path directory, DiskCacheConfig config) throws IOException {
    DirectoryGuard guard =
        config.scope() == DiskCacheConfig.Scope.PRIVATE
            ? DirectoryGuard.enter(DirectoryGuard.topIn(DirectoryGuard.realDirectory(directory)))
            : DirectoryGuard.shared(directory);
    Path versioned = guard.top().resolve(VERSION);
    guard.require(versioned);
    CacheRoot root = null;
    for (int attempt = 1; root == null; attempt++) {
      String owner = Owners.newId();
      Membership membership =
          Membership.join(versioned.resolve(nameOf(config, owner)), owner, guard, config.scope());
      if (membership != null) {
        root = new CacheRoot(membership);
      } else if (attempt == ATTEMPTS) {
        throw new IOException("cannot lock a place in " + versioned + ": others remove it");
      }
    }
    Leavings.removeInBackground(versioned);
    return root;
  }

  private static String nameOf(DiskCacheConfig config, String owner) {
    return switch (config.scope()) {
      case PRIVATE -> PRIVATE + owner;
      case APP -> APP + hash(config.application());
      case HOST -> HOST;
    };
  }

  private static String hash(String application) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(application.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 10);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }

  /** Directory of the instance. */
  Path instance() {
    return membership.instance();
  }

  /** Where the files of disk blocks are. */
  Path blocks() {
    return instance().resolve(Membership.BLOCKS);
  }

  /** Where files are written before they get their name. */
  Path tmp() {
    return instance().resolve(Membership.TMP);
  }

  /** Who fetches which disk block. */
  Path claims() {
    return instance().resolve(Membership.CLAIMS);
  }

  /** The locks of the processes that use the instance. */
  Path owners() {
    return instance().resolve(Membership.OWNERS);
  }

  /** This process, in this instance. */
  String ownerId() {
    return membership.ownerId();
  }

  /** What the engines of this JVM share in this instance. */
  Membership membership() {
    return membership;
  }

  /**
   * Lays the directory out again, if somebody deleted it or this process's lock.
   *
   * @return whether anything was missing
   */
  boolean repair() throws IOException {
    return membership.repair();
  }

  /**
   * Leaves the instance; the last of a private one removes it. Waits for the disk for {@value
   * Membership#LEAVE_MILLIS} ms at most; what takes longer goes on in the background. Again:
   * nothing.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    membership.leave();
  }

  @Override
  public String toString() {
    return instance().toString();
  }
}
