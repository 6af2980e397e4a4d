// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.conf.HistorySetting;
import io.s3e.jvm.OwnLoader;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.util.functional.FutureIO;
import org.jspecify.annotations.Nullable;

/**
 * The histories of jobs in one directory, on any file system of Hadoop's: a directory for each job,
 * named by its folded name, with files {@code history-*.json}, as a rule one.
 *
 * <p><b>Without locks.</b> Who adds writes all that it has found and its own to a file of a new
 * name, and then deletes the files that it has found. Two at once leave two files, which the next
 * one reads both; what is in both counts once ({@link JobFacts#with}). A file appears under its
 * name when it is whole: S3 has it so, elsewhere it is renamed.
 *
 * <p>Any thread. Each call goes by the file system that is {@linkplain #lend lent}; without one it
 * opens its own, which on S3 is S3A's, and closes it. A JVM of seconds has no second to make one.
 */
public final class HistoryStore {
  /** As Spark has those of its event logs: names of tables and columns are not everybody's. */
  private static final FsPermission OF_DIRECTORY = new FsPermission("770");

  private static final FsPermission OF_FILE = new FsPermission("660");

  private static final String PREFIX = "history-";
  private static final String SUFFIX = ".json";

  /** More were left by writers that could not delete; the latest have all that the others have. */
  private static final int MOST_READ = 32;

  private static final int MOST_LOOKS = 3;

  private static final String S3A_SCHEME = "s3a";

  private final Path directory;
  private final URI uri;
  private final Configuration conf;

  /** Forgotten by its owner, it goes. */
  private volatile WeakReference<FileSystem> lent = new WeakReference<>(null);

  /**
   * @param conf how to reach it
   */
  public HistoryStore(Path directory, Configuration conf) {
    this.directory = directory;
    this.uri = directory.makeQualified(FileSystem.getDefaultUri(conf), new Path("/")).toUri();
    this.conf = conf;
  }

  /** Has calls go by {@code files}, if the directory is on it, until {@link #takeBack}. */
  void lend(FileSystem files) {
    URI other = files.getUri();
    if (lent.get() == null
        && other.getScheme().equals(uri.getScheme())
        && other.getAuthority() != null
        && other.getAuthority().equals(uri.getAuthority())) {
      lent = new WeakReference<>(files);
    }
  }

  /** Its owner is about to close it. */
  void takeBack(FileSystem files) {
    if (lent.get() == files) {
      lent.clear();
    }
  }

  /** Whether an object is one of the histories. */
  boolean contains(ObjectRef object) {
    String path = uri.getPath();
    String prefix = path.endsWith("/") ? path : path + "/";
    String key = "/" + object.key();
    return object.bucket().equals(uri.getAuthority())
        && key.startsWith(prefix)
        && isOfJob(key.substring(prefix.length()));
  }

  /** A table may lie beside the histories, as where they are in the root of its bucket. */
  private static boolean isOfJob(String inDirectory) {
    int slash = inDirectory.indexOf('/');
    return slash > 0 && isHistory(inDirectory.substring(slash + 1));
  }

  /** A file system, closed with this if it is the store's own. */
  private record Opened(FileSystem files, boolean isOwn) implements Closeable {
    @Override
    public void close() throws IOException {
      if (isOwn) {
        files.close();
      }
    }

    /** As {@link #close()}, by a thread of its own: it takes the lock of Hadoop's cache. */
    void closeBeside() {
      if (isOwn) {
        OwnLoader.thread(() -> IOUtils.cleanupWithLogger(null, files), "s3e-history").start();
      }
    }
  }

  /**
   * What was found of a job.
   *
   * @param facts of all files that could be read
   * @param files those
   * @param problem why one could not be, in words; null if all could
   */
  public record Found(JobFacts facts, List<Path> files, @Nullable String problem) {}

  /**
   * What is known of a job; nothing if that is nothing. Who asks has named the directory: here,
   * other than for a job that runs, one that is not there is a problem.
   *
   * @throws IOException if the job's files cannot be listed
   */
  public Found read(String job) throws IOException {
    try (Opened opened = open()) {
      Found found = find(opened.files, JobName.folded(job));
      return found.files().isEmpty() && found.problem() == null
          ? new Found(found.facts(), List.of(), problemOf(opened.files))
          : found;
    }
  }

  /** Why the directory cannot be looked into, in words; null if it can. */
  private @Nullable String problemOf(FileSystem files) {
    try {
      if (!files.getFileStatus(directory).isDirectory()) {
        return JobFacts.shown(directory + ": not a directory");
      }
      boolean unused = files.listStatusIterator(directory).hasNext();
      return null;
    } catch (FileNotFoundException e) {
      return JobFacts.shown(directory + ": no such directory");
    } catch (IOException e) {
      return JobFacts.shown(directory + ": " + e.getMessage());
    }
  }

  Found find(String job) throws IOException {
    try (Opened opened = open()) {
      return find(opened.files, job);
    }
  }

  /** Looks again where a file went meanwhile, for the one that its writer has put it into. */
  private Found find(FileSystem files, String job) throws IOException {
    Found found = null;
    for (int look = 0; look < MOST_LOOKS && found == null; look++) {
      found = look(files, job, look == MOST_LOOKS - 1);
    }
    return Objects.requireNonNull(found, "found");
  }

  /** Null if a file went meanwhile, unless this is the last look. */
  private @Nullable Found look(FileSystem files, String job, boolean isLast) throws IOException {
    JobFacts facts = JobFacts.none(job);
    List<Path> read = new ArrayList<>();
    String problem = null;
    for (FileStatus file : filesOf(files, job)) {
      try {
        facts = facts.with(decoded(files, file));
        read.add(file.getPath());
      } catch (FileNotFoundException e) {
        if (!isLast) {
          return null;
        }
      } catch (IOException e) {
        problem = JobFacts.shown(file.getPath() + ": " + e.getMessage());
      }
    }
    return new Found(facts, read, problem);
  }

  private static JobFacts decoded(FileSystem files, FileStatus file) throws IOException {
    if (file.getLen() > HistoryFile.MOST_BYTES) {
      throw new IOException("it is damaged: it has " + file.getLen() + " bytes");
    }
    byte[] bytes = new byte[(int) file.getLen()];
    try (FSDataInputStream in =
        FutureIO.awaitFuture(files.openFile(file.getPath()).withFileStatus(file).build())) {
      in.readFully(0, bytes);
    }
    return HistoryFile.decode(bytes);
  }

  /** The latest first. */
  private List<FileStatus> filesOf(FileSystem files, String job) throws IOException {
    FileStatus[] all;
    try {
      all = files.listStatus(directoryOf(job));
    } catch (FileNotFoundException e) {
      return List.of();
    }
    return Arrays.stream(all)
        .filter(file -> file.isFile() && isHistory(file.getPath().getName()))
        .sorted(Comparator.comparingLong(FileStatus::getModificationTime).reversed())
        .limit(MOST_READ)
        .toList();
  }

  private static boolean isHistory(String name) {
    return name.startsWith(PREFIX) && name.endsWith(SUFFIX) && name.indexOf('/') < 0;
  }

  private Path directoryOf(String job) {
    return new Path(directory, JobName.directory(job));
  }

  /**
   * Adds what one JVM, or all of one run, have learnt; whether all that was there could be read.
   */
  Found add(JobFacts facts) throws IOException {
    Opened opened = open();
    try {
      FileSystem files = opened.files;
      Found found = find(files, facts.job());
      JobFacts all = found.facts().with(facts).judged();
      Path parent = directoryOf(facts.job());
      String name = PREFIX + UUID.randomUUID() + SUFFIX;
      if (files instanceof S3AFileSystem) {
        write(files, new Path(parent, name), all);
      } else {
        Path written = new Path(parent, "." + name + ".part");
        files.mkdirs(parent, OF_DIRECTORY);
        write(files, written, all);
        if (!files.rename(written, new Path(parent, name))) {
          throw new IOException("Cannot rename " + written);
        }
      }
      String problem = found.problem();
      for (Path each : found.files()) {
        try {
          boolean unused = files.delete(each, false);
        } catch (IOException e) {
          // What is written has all of it.
          problem =
              JobFacts.shown("files that are read no more cannot be deleted: " + e.getMessage());
        }
      }
      return new Found(all, found.files(), problem);
    } finally {
      opened.closeBeside();
    }
  }

  /**
   * Readies the directories in which S3A keeps what it uploads, since making them takes a local
   * file system out of Hadoop's cache. That cache is locked while it closes what is in it, for all
   * but the thread that does: whoever waits for {@link #add} is to call this before, and may be
   * that thread.
   *
   * @throws IOException if there is no such directory
   */
  void prepareToAdd() throws IOException {
    FileSystem files = lent.get();
    if (!S3A_SCHEME.equals(uri.getScheme()) && !(files instanceof S3AFileSystem)) {
      return;
    }
    Configuration writer =
        files == null ? S3AUtils.propagateBucketOptions(conf, uri.getAuthority()) : files.getConf();
    // As S3A has it.
    String directories =
        writer.get(Constants.BUFFER_DIR) == null ? "hadoop.tmp.dir" : Constants.BUFFER_DIR;
    Path unused = new LocalDirAllocator(directories).getLocalPathForWrite("s3e-history", writer);
  }

  /** By a new name: nothing has to be looked for that it might replace. */
  private static void write(FileSystem files, Path file, JobFacts facts) throws IOException {
    // Before there is a file, which would else be there, and empty, if this fails.
    byte[] bytes = HistoryFile.encode(facts);
    FSDataOutputStreamBuilder<?, ?> builder = files.createFile(file);
    builder.recursive().overwrite(true).opt(Constants.FS_S3A_CREATE_PERFORMANCE, true);
    builder.permission(OF_FILE);
    try (OutputStream out = builder.build()) {
      out.write(bytes);
    }
  }

  /** Forgets a job; whether anything was known of it. */
  public boolean clear(String job) throws IOException {
    try (Opened opened = open()) {
      return opened.files.delete(directoryOf(JobName.folded(job)), true);
    }
  }

  /**
   * One that S3E has no part in, nor Hadoop's cache of file systems, which is locked while it
   * closes those in it at the end of a JVM.
   */
  private Opened open() throws IOException {
    FileSystem files = lent.get();
    if (files != null) {
      return new Opened(files, false);
    }
    Configuration own = new Configuration(conf);
    HistorySetting.withoutS3E(own, uri.getHost());
    own.setBoolean("fs." + uri.getScheme() + ".impl.disable.cache", true);
    return new Opened(FileSystem.get(uri, own), true);
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
