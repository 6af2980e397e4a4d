// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.util.ShutdownHookManager;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;

/**
 * Data of its own below a prefix of the user's bucket, in a directory that nobody else has. {@link
 * #close} deletes the directory; so does the end of the JVM, unless it is killed. Each run reads
 * copies that the store makes, so that no cache knows them; the copies of the run before go then.
 *
 * <p>The thread of the comparison calls; only the end of the JVM comes from another.
 */
final class WrittenTarget implements Target {

  /** What one CopyObject takes. */
  private static final long MOST_BYTES = 5L << 30;

  private static final long DELETE_PATIENCE_SECONDS = 60;

  private final FileSystem s3a;
  private final String root;
  private final Map<String, String> hadoop;
  private final Runnable atExit = this::deleteAtExit;
  private final EmbeddedData data;
  private int runs;

  /** Whether what was written is gone; nothing is written after that. */
  private boolean deleted;

  private WrittenTarget(
      FileSystem s3a, String root, Map<String, String> hadoop, EmbeddedData data) {
    this.s3a = s3a;
    this.root = root;
    this.hadoop = hadoop;
    this.data = data;
  }

  /** A directory below a prefix that nobody else has. */
  static String root(String prefix) {
    return prefix
        + (prefix.endsWith("/") ? "" : "/")
        + "s3e-bench-"
        + UUID.randomUUID().toString().substring(0, 8)
        + '/';
  }

  /**
   * Writes the data.
   *
   * @param root of {@link #root}
   * @throws IOException when the store refuses it; what was written by then is deleted
   */
  static WrittenTarget start(
      String root, JobOptions options, RunDirectory directory, Progress progress)
      throws IOException, InterruptedException {
    if (options.bytes() > MOST_BYTES) {
      throw new IllegalArgumentException(
          "--size must be at most %d MiB in the preset aws and is %d"
              .formatted(MOST_BYTES >> 20, options.bytes() >> 20));
    }
    Map<String, String> hadoop = Map.of("hadoop.tmp.dir", directory.tmp().toString());
    Configuration configuration = new Configuration();
    hadoop.forEach(configuration::set);
    options.hadoop().forEach(configuration::set);
    Engine.of("classic", Map.of()).settings().forEach(configuration::set);
    configuration.setBoolean("fs.s3a.create.performance", true);
    // An upload that an interrupt has cut stays, and costs, until somebody aborts it.
    configuration.setBoolean("fs.s3a.directory.operations.purge.uploads", true);
    FileSystem s3a = FileSystem.newInstance(new Path(root).toUri(), configuration);
    EmbeddedData data = new EmbeddedData(s3a, root, directory.data(), options, progress);
    WrittenTarget target = new WrittenTarget(s3a, root, hadoop, data);
    ShutdownHookManager.get()
        .addShutdownHook(
            target.atExit,
            FileSystem.SHUTDOWN_HOOK_PRIORITY + 1,
            DELETE_PATIENCE_SECONDS,
            TimeUnit.SECONDS);
    boolean ready = false;
    try {
      data.write();
      ready = true;
      return target;
    } finally {
      if (!ready) {
        target.close();
      }
    }
  }

  @Override
  public String description() {
    return root + ", written for this run";
  }

  @Override
  public Map<String, String> hadoop() {
    return hadoop;
  }

  @Override
  public @Nullable Subject subject(WorkloadKind workload) {
    boolean isHere = workload.bucketsBeside() == 0 && workload.store() == WorkloadKind.Store.WELL;
    return isHere ? data.subject(workload) : null;
  }

  @Override
  public synchronized Subject unread(Subject subject) throws IOException {
    if (deleted) {
      throw new IOException("What was written is deleted already: the job is ending");
    }
    if (runs > 0) {
      s3a.delete(new Path(run(runs)), true);
    }
    String run = run(++runs);
    S3Client client = ((S3AFileSystem) s3a).getS3AInternals().getAmazonS3Client("copies of a run");
    List<ObjectSlice> copies = new ArrayList<>();
    for (ObjectSlice object : subject.objects()) {
      String copy = run + object.uri().substring(root.length());
      client.copyObject(copy(object.uri(), copy));
      copies.add(new ObjectSlice(copy, object.position(), object.length(), object.reference()));
    }
    return new Subject(
        copies, subject.warmUpUri(), subject.reference(), subject.columns(), subject.checksum());
  }

  private String run(int number) {
    return root + "run" + number + '/';
  }

  static CopyObjectRequest copy(String from, String to) {
    // Keys as they are written: a Path takes a percent sign, a blank and # for themselves.
    URI source = new Path(from).toUri();
    URI target = new Path(to).toUri();
    return CopyObjectRequest.builder()
        .sourceBucket(source.getAuthority())
        .sourceKey(source.getPath().substring(1))
        .destinationBucket(target.getAuthority())
        .destinationKey(target.getPath().substring(1))
        .build();
  }

  private synchronized void delete() throws IOException {
    if (!deleted) {
      deleted = true;
      boolean isInterrupted = false;
      try {
        data.stop();
      } catch (InterruptedException e) {
        // Not yet said again: the SDK sends nothing on a thread that is interrupted.
        isInterrupted = true;
      } finally {
        s3a.delete(new Path(root), true);
      }
      if (isInterrupted) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while uploads end");
      }
    }
  }

  private void deleteAtExit() {
    try {
      delete();
    } catch (IOException e) {
      System.err.println("Could not delete " + root + ", delete it by hand: " + e);
    }
  }

  /**
   * Deletes what was written.
   *
   * @throws IOException when it is still there; names it
   */
  @Override
  public void close() throws IOException {
    ShutdownHookManager.get().removeShutdownHook(atExit);
    try (s3a) {
      delete();
    } catch (IOException e) {
      throw new IOException("Could not delete " + root + ", delete it by hand: " + e, e);
    }
  }
}
