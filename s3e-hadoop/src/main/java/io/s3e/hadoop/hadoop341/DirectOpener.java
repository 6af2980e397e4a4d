// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop341;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.client.FileSystemRequests;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.open.FileSystemAccess;
import io.s3e.hadoop.stream.Opening;
import io.s3e.hadoop.stream.S3EHadoopInputStream;
import io.s3e.hadoop.stream.StreamSource;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AReadOpContext;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.Statistic;
import org.apache.hadoop.fs.s3a.impl.OpenFileSupport;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.apache.hadoop.util.LambdaUtils;

/**
 * Opens files on Hadoop 3.4.1, whose S3A always makes its own stream: the same steps as S3A's, from
 * its public and protected parts, with S3E's stream at the end. Any thread.
 */
public final class DirectOpener implements Closeable {
  /** S3A's own least. */
  private static final int LEAST_THREADS = 2;

  private static final long IDLE_SECONDS = 10;

  private final FileSystemAccess access;
  private final S3AFileSystem fileSystem;
  private final ReadEngine engine;
  private final OpenFileSupport support;
  private final ExecutorService threads;

  public DirectOpener(FileSystemAccess access, ReadEngine engine) throws IOException {
    this.access = access;
    this.engine = engine;
    fileSystem = access.fileSystem();
    Configuration conf = fileSystem.getConf();
    support =
        new OpenFileSupport(
            fileSystem.getChangeDetectionPolicy(),
            S3AUtils.longBytesOption(
                conf, Constants.READAHEAD_RANGE, Constants.DEFAULT_READAHEAD_RANGE, 0),
            fileSystem.getUsername(),
            conf.getInt("io.file.buffer.size", 4096),
            S3AUtils.longBytesOption(
                conf, Constants.ASYNC_DRAIN_THRESHOLD, Constants.DEFAULT_ASYNC_DRAIN_THRESHOLD, 0),
            fileSystem.getInputPolicy());
    threads =
        openThreads(
            fileSystem.getUri().toString(),
            conf.getInt(Constants.MAX_THREADS, Constants.DEFAULT_MAX_THREADS));
  }

  /** As many as S3A has for this, by the same key: each may wait for the answer to a HEAD. */
  private static ExecutorService openThreads(String name, int asked) {
    int most = Math.max(LEAST_THREADS, asked);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "s3e-open-" + name);
              thread.setDaemon(true);
              return thread;
            },
            // Once this is closed: S3A says that its file system is.
            (late, closed) -> late.run());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /** As {@code FileSystem.open}: one HEAD. */
  public FSDataInputStream open(Path path, Opening opening) throws IOException {
    return open(path, support.openSimpleFile(0), opening);
  }

  /**
   * As {@code openFile().build()}: a HEAD only if neither status nor length is given. Otherwise
   * nothing is sent, and the file is open when this returns: it waits for nobody's HEAD.
   */
  public CompletableFuture<FSDataInputStream> open(
      Path path, OpenFileParameters parameters, Opening opening) throws IOException {
    OpenFileSupport.OpenFileInformation information =
        support.prepareToOpenFile(path, parameters, fileSystem.getDefaultBlockSize(path));
    CompletableFuture<FSDataInputStream> opened = new CompletableFuture<>();
    Runnable open =
        () -> {
          var unused = LambdaUtils.eval(opened, () -> open(path, information, opening));
        };
    if (information.getStatus() == null) {
      threads.execute(open);
      return opened;
    }
    // The file's span is the stream's: the caller goes on in the one that it is in, as with S3A.
    AuditSpan callers = fileSystem.getActiveAuditSpan();
    try {
      open.run();
    } finally {
      callers.activate();
    }
    return opened;
  }

  private FSDataInputStream open(
      Path path, OpenFileSupport.OpenFileInformation information, Opening opening)
      throws IOException {
    S3AInputStreamStatistics statistics =
        fileSystem.getInstrumentation().newInputStreamStatistics(access.fileSystemStatistics());
    AuditSpan span = access.openSpan(path);
    S3AFileStatus given = information.getStatus();
    S3AFileStatus status =
        IOStatisticsBinding.trackDuration(
            statistics,
            Statistic.ACTION_FILE_OPENED.getSymbol(),
            () -> given != null ? given : access.status(path));
    if (status.isDirectory()) {
      throw new FileNotFoundException(path + " is a directory");
    }
    S3AReadOpContext context = access.readContext(status, span);
    information.applyOptions(context);
    statistics.inputPolicySet(context.getInputPolicy().ordinal());
    StreamSource source =
        new StreamSource(
            new ObjectRef(fileSystem.getBucket(), fileSystem.pathToKey(path)),
            path.toString(),
            status.getLen(),
            status.getEtag(),
            status.getVersionId(),
            context.build(),
            statistics,
            new FileSystemRequests(
                fileSystem,
                span,
                context.getChangeDetectionPolicy(),
                statistics.getChangeTrackerStatistics()));
    S3EHadoopInputStream stream = new S3EHadoopInputStream(source, engine);
    stream.attach(engine, opening);
    return new FSDataInputStream(stream);
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
