package io.s3e.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Looks into one directory of the cache from outside, for tools: what is there, whether it is
 * intact, and away with it. Works beside processes that use the cache, and disturbs none of them:
 * to look at a file does not count as a use of it.
 *
 * <p>Any thread; every call may block for as long as the disk likes.
 */
public final class CacheInspector {
  private static final Pattern OWNER = Pattern.compile("([0-9]{1,10})-.*\\.lock");

  private final DiskIo io = new NioDiskIo();
  private final Path directory;
  private final BlockCheck check;

  /**
   * @param directory as the cache was given it
   * @param key what encrypted files are checked with; null leaves them unchecked
   */
  public CacheInspector(Path directory, @Nullable CacheKey key) {
    this.directory = directory;
    this.check = new BlockCheck(io, key);
  }

  /** Whose an instance is. */
  public enum Kind {
    /** One engine's. */
    PRIVATE,
    /** An application's. */
    APP,
    /** All processes' of the user. */
    HOST,
    /** Nobody's: the rest of one whose removal was interrupted. */
    REMOVED
  }

  /**
   * One instance: the files that one set of processes shares.
   *
   * @param processes ids of those that use it now, as they see them themselves: in a container they
   *     are not the host's
   * @param files how many files of disk blocks there are
   * @param bytes their lengths together; holes are counted
   * @param temporaries files that are being written, or were when their process died
   */
  public record Instance(
      Path path,
      String name,
      Kind kind,
      List<Long> processes,
      long files,
      long bytes,
      long temporaries) {
    public Instance {
      processes = List.copyOf(processes);
    }

    /** Whether a living process uses it. */
    public boolean isInUse() {
      return !processes.isEmpty();
    }
  }

  /**
   * What the header of a file says. Of an encrypted one it may have been changed by somebody.
   *
   * @param id which disk block; the names of its object are in it
   * @param chunks how many of its {@link DiskBlockId#chunks()} are there
   * @param bytes what the file takes on disk
   * @param writtenMillis when it was written, in ms since 1970
   * @param usedMillis when it was used last, in ms since 1970; before {@code writtenMillis} if
   *     never
   */
  public record Block(
      Path path,
      DiskBlockId id,
      int chunks,
      long bytes,
      boolean encrypted,
      long writtenMillis,
      long usedMillis) {
    /** Whether it was read since it was written. */
    public boolean wasUsed() {
      return usedMillis > writtenMillis;
    }
  }

  /** What became of checking a file. */
  public enum Finding {
    /** Every byte is what was written. */
    GOOD,
    /** It is not; a reader would find that, too, and delete it. */
    CORRUPT,
    /** The disk fails. */
    UNREADABLE,
    /** Encrypted, and its key is not here. */
    UNCHECKED
  }

  /**
   * A file was checked.
   *
   * @param bytes its length
   * @param reason what is wrong, in a few words; empty if nothing is
   * @param deleted whether it was deleted for that
   */
  public record Check(Path path, Finding finding, long bytes, String reason, boolean deleted) {}

  /**
   * All instances, by name; none if there is no cache in the directory.
   *
   * @throws java.nio.file.FileSystemException if what is there is not certainly the user's own
   */
  public List<Instance> instances() throws IOException {
    Path versioned = versioned();
    if (versioned == null) {
      return List.of();
    }
    List<Instance> instances = new ArrayList<>();
    for (DiskIo.Entry entry : io.list(versioned)) {
      Kind kind = kindOf(nameOf(entry.path()));
      if (entry.isDirectory() && kind != null) {
        instances.add(survey(entry.path(), kind));
      }
    }
    instances.sort(Comparator.comparing(Instance::name));
    return instances;
  }

  /** The disk blocks of an instance, in no order; not those whose header does not say which. */
  public void blocks(Instance instance, Consumer<Block> blocks) throws IOException {
    ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    forEachFile(
        instance.path(),
        entry -> {
          Block block = check.describe(entry, scratch);
          if (block != null) {
            blocks.accept(block);
          }
        });
  }

  /**
   * Reads all files of an instance and checks every byte.
   *
   * @param delete whether to delete what is corrupt
   * @param checks is told of each file, once it is checked
   */
  public void verify(Instance instance, boolean delete, Consumer<Check> checks) throws IOException {
    ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    // Nobody but the engine itself ever has the key of a private instance.
    boolean keyed = instance.kind() != Kind.PRIVATE;
    forEachFile(
        instance.path(),
        entry -> {
          Check found = check.check(entry, keyed, scratch);
          if (found != null) {
            checks.accept(delete && found.finding() == Finding.CORRUPT ? delete(found) : found);
          }
        });
  }

  /**
   * Deletes what an instance holds. One that nobody uses goes as a whole; of one that is in use
   * only the files of disk blocks, which its processes then miss.
   *
   * @param evenIfUsed whether to clear an instance that is in use
   * @return false if it is in use and was left alone
   */
  public boolean clear(Instance instance, boolean evenIfUsed) throws IOException {
    if (instance.kind() == Kind.REMOVED) {
      Leavings.deleteTree(instance.path());
    } else if (processesOf(instance.path()).isEmpty()) {
      Leavings.remove(instance.path());
    } else if (evenIfUsed) {
      forEachFile(instance.path(), entry -> io.delete(entry.path()));
    } else {
      return false;
    }
    return true;
  }

  private @Nullable Path versioned() throws IOException {
    if (!Files.isDirectory(directory)) {
      return null;
    }
    Path top = DirectoryGuard.topIn(directory.toRealPath());
    if (!Files.exists(top, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    // Another user who laid it out could exchange a directory for a link while we delete.
    DirectoryGuard.shared(directory);
    return top.resolve(CacheRoot.VERSION);
  }

  private static @Nullable Kind kindOf(String name) {
    if (name.startsWith(CacheRoot.PRIVATE)) {
      return Kind.PRIVATE;
    } else if (name.startsWith(CacheRoot.APP)) {
      return Kind.APP;
    } else if (name.equals(CacheRoot.HOST)) {
      return Kind.HOST;
    } else {
      return name.startsWith(Leavings.REMOVED) ? Kind.REMOVED : null;
    }
  }

  private Instance survey(Path instance, Kind kind) throws IOException {
    long[] filesAndBytes = new long[2];
    forEachFile(
        instance,
        entry -> {
          filesAndBytes[0]++;
          filesAndBytes[1] += entry.bytes();
        });
    return new Instance(
        instance,
        nameOf(instance),
        kind,
        processesOf(instance),
        filesAndBytes[0],
        filesAndBytes[1],
        io.list(instance.resolve(Membership.TMP)).size());
  }

  /** The living ones; unlike {@link Owners#living} without removing the traces of the dead. */
  private List<Long> processesOf(Path instance) throws IOException {
    List<Long> processes = new ArrayList<>();
    for (DiskIo.Entry entry : io.list(instance.resolve(Membership.OWNERS))) {
      Matcher owner = OWNER.matcher(nameOf(entry.path()));
      if (entry.isFile() && owner.matches() && !Leavings.isDead(entry.path())) {
        processes.add(Long.parseLong(owner.group(1)));
      }
    }
    return processes;
  }

  private Check delete(Check corrupt) {
    boolean deleted = true;
    String reason = corrupt.reason();
    try {
      io.delete(corrupt.path());
    } catch (IOException e) {
      deleted = false;
      reason += "; cannot be deleted: " + e.getMessage();
    }
    return new Check(corrupt.path(), corrupt.finding(), corrupt.bytes(), reason, deleted);
  }

  /** All that stands where files of disk blocks do, whatever it is. */
  private void forEachFile(Path instance, EntryVisitor visitor) throws IOException {
    for (DiskIo.Entry prefix : io.list(instance.resolve(Membership.BLOCKS))) {
      if (!prefix.isDirectory()) {
        visitor.visit(prefix);
        continue;
      }
      for (DiskIo.Entry entry : io.list(prefix.path())) {
        visitor.visit(entry);
      }
    }
  }

  private static String nameOf(Path path) {
    return String.valueOf(path.getFileName());
  }

  @FunctionalInterface
  private interface EntryVisitor {
    void visit(DiskIo.Entry entry) throws IOException;
  }
}
