// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.explain;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import io.s3e.jvm.OwnLoader;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The GETs of one engine as lines of JSON, in files that only their owner may read: one file after
 * the other, of which the latest {@value #MOST_FILES} stay.
 *
 * <p>Who hands over a GET never waits. It is queued, and a daemon thread of this alone writes it.
 * It is dropped where the queue is full, once a file could not be written (one WARN, and no file is
 * written any more), and once this is closed. In the end each GET that was offered is written or
 * dropped. The first file is opened for the first GET.
 *
 * <p>Any thread; what is said to be the writer's is touched by its thread alone.
 */
public final class GetFiles implements GetSink, GetFilesMBean {
  private static final Logger LOG = LoggerFactory.getLogger(GetFiles.class);

  /** With {@link #USUAL_FILE_BYTES} 128 MiB, some 300,000 GETs: hours of a busy executor. */
  static final int MOST_FILES = 8;

  private static final long USUAL_FILE_BYTES = 16L << 20;

  /** A second's GETs of the busiest JVM; 3 MiB of heap when it is full. */
  private static final int USUAL_QUEUE = 8192;

  /** So that a file is not much longer than it may be. */
  private static final int MOST_AT_ONCE = 256;

  private static final long IDLE_MILLIS = 200;
  private static final long CLOSE_MILLIS = 5_000;
  private static final FileAttribute<?> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Makes a file, which is not there. */
  interface Opener {
    OutputStream open(Path path) throws IOException;
  }

  private final Path directory;
  private final Opener opener;
  private final long fileBytes;
  private final BlockingQueue<GetRecord> queue;
  private final String name =
      String.format(
          Locale.ROOT,
          "s3e-gets-%d-%08x",
          ProcessHandle.current().pid(),
          ThreadLocalRandom.current().nextInt());

  private final AtomicLong offered = new AtomicLong();
  private final AtomicLong written = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final Thread writer = OwnLoader.thread(this::run, "s3e-gets");
  private volatile boolean closed;

  // The writer's.
  private @Nullable OutputStream file;
  private long bytes;
  private int files;
  private boolean broken;

  /** Writes nothing before it has begun. */
  GetFiles(Path directory, Opener opener, long fileBytes, int mostQueued) {
    this.directory = directory;
    this.opener = opener;
    this.fileBytes = fileBytes;
    this.queue = new ArrayBlockingQueue<>(mostQueued);
  }

  /**
   * Makes the files of an engine.
   *
   * @param directory made if it is not there
   */
  public record In(Path directory) implements Supplier<GetSink> {
    @Override
    public GetSink get() {
      GetFiles made = new GetFiles(directory, GetFiles::open, USUAL_FILE_BYTES, USUAL_QUEUE);
      made.begin();
      return made;
    }

    /** As a user says it. */
    @Override
    public String toString() {
      return "all in " + directory;
    }
  }

  void begin() {
    writer.start();
    try {
      ManagementFactory.getPlatformMBeanServer()
          .registerMBean(new StandardMBean(this, GetFilesMBean.class), shownAs());
    } catch (JMException | RuntimeException | LinkageError e) {
      LOG.debug("JMX does not show how many GETs are written", e);
    }
  }

  private ObjectName shownAs() throws JMException {
    return new ObjectName("io.s3e:type=GetFiles,name=" + name);
  }

  @Override
  public void take(GetRecord get) {
    offered.incrementAndGet();
    // The writer may have looked at the queue for the last time before it was closed.
    if (closed || !queue.offer(get) || (closed && queue.remove(get))) {
      dropped.incrementAndGet();
    }
  }

  private void run() {
    List<GetRecord> gets = new ArrayList<>();
    try {
      while (!closed || !queue.isEmpty()) {
        GetRecord first = queue.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
        if (first != null) {
          gets.add(first);
          queue.drainTo(gets, MOST_AT_ONCE - 1);
          (isWritten(gets) ? written : dropped).addAndGet(gets.size());
          gets.clear();
        }
      }
      if (file != null) {
        file.close();
      }
    } catch (InterruptedException | IOException e) {
      LOG.debug("The last file of GETs is not closed", e);
    } finally {
      closed = true;
      queue.drainTo(gets);
      dropped.addAndGet(gets.size());
    }
  }

  private boolean isWritten(List<GetRecord> gets) {
    if (broken) {
      return false;
    }
    try {
      StringBuilder lines = new StringBuilder();
      gets.forEach(get -> lines.append(get.json()).append('\n'));
      byte[] encoded = lines.toString().getBytes(US_ASCII);
      current().write(encoded);
      bytes += encoded.length;
    } catch (IOException | RuntimeException | Error e) {
      broken = true;
      LOG.warn(
          "GETs are written to {} no more (fs.s3a.s3e.explain); reads go on: {}",
          getFiles(),
          e.toString());
    }
    return !broken;
  }

  private OutputStream current() throws IOException {
    OutputStream now = file;
    if (now != null && bytes < fileBytes) {
      return now;
    }
    if (now != null) {
      now.close();
    } else {
      if (!Files.isDirectory(directory)) {
        Files.createDirectories(directory);
      }
      LOG.info("GETs are written to {}", getFiles());
    }
    OutputStream next = opener.open(path(files));
    file = next;
    bytes = 0;
    files++;
    Files.deleteIfExists(path(files - 1 - MOST_FILES));
    return next;
  }

  /** A file that only this user may read, since names of objects are in it. */
  static OutputStream open(Path path) throws IOException {
    // In one step: what is opened by its name again may be another's by then.
    return Channels.newOutputStream(
        Files.newByteChannel(
            path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWNER_ALONE));
  }

  private Path path(Object number) {
    return directory.resolve(name + "-" + number + ".jsonl");
  }

  @Override
  public String getFiles() {
    return path("*").toString();
  }

  @Override
  public long getOffered() {
    return offered.get();
  }

  @Override
  public long getWritten() {
    return written.get();
  }

  @Override
  public long getDropped() {
    return dropped.get();
  }

  /** Waits a bounded time until what was offered is written. */
  @Override
  public void close() {
    closed = true;
    try {
      writer.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    LOG.info(
        "GETs: {} offered, {} written to {}, {} dropped", offered, written, getFiles(), dropped);
    try {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(shownAs());
    } catch (JMException | RuntimeException e) {
      LOG.debug("JMX shows {} on", name, e);
    }
  }
}
