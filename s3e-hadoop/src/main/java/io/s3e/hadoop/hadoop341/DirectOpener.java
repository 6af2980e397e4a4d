package io.s3e.hadoop.hadoop341;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.hadoop.stream.OpenHints;
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
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
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
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.apache.hadoop.util.LambdaUtils;
import org.jspecify.annotations.Nullable;

/**
 * Opens files on Hadoop 3.4.1, whose S3A always makes its own stream: the same steps as S3A's, from
 * its public and protected parts, with S3E's stream at the end. Any thread.
 */
public final class DirectOpener implements Closeable {
  private static final int OPEN_THREADS = 16;
  private static final long IDLE_SECONDS = 10;

  /** The protected parts of S3AFileSystem. */
  public interface FileSystemAccess {
    S3AFileSystem fileSystem();

    AuditSpan openSpan(Path path) throws IOException;

    S3AReadOpContext readContext(FileStatus status, AuditSpan span);

    FileSystem.@Nullable Statistics fileSystemStatistics();
  }

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
    threads = openThreads(fileSystem.getUri().toString());
  }

  private static ExecutorService openThreads(String name) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            OPEN_THREADS,
            OPEN_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "s3e-open-" + name);
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /** As {@code FileSystem.open}: one HEAD. */
  public FSDataInputStream open(Path path) throws IOException {
    return open(path, support.openSimpleFile(0), OpenHints.NONE, OpenerStatistics.ofThisThread());
  }

  /** As {@code openFile().build()}: a HEAD only if neither status nor length is given. */
  public CompletableFuture<FSDataInputStream> open(Path path, OpenFileParameters parameters)
      throws IOException {
    OpenFileSupport.OpenFileInformation information =
        support.prepareToOpenFile(path, parameters, fileSystem.getDefaultBlockSize(path));
    OpenHints hints = OpenHints.of(parameters);
    IOStatisticsAggregator opener = OpenerStatistics.ofThisThread();
    CompletableFuture<FSDataInputStream> opened = new CompletableFuture<>();
    threads.execute(
        () -> {
          var unused = LambdaUtils.eval(opened, () -> open(path, information, hints, opener));
        });
    return opened;
  }

  private FSDataInputStream open(
      Path path,
      OpenFileSupport.OpenFileInformation information,
      OpenHints hints,
      IOStatisticsAggregator opener)
      throws IOException {
    S3AInputStreamStatistics statistics =
        fileSystem.getInstrumentation().newInputStreamStatistics(access.fileSystemStatistics());
    AuditSpan span = access.openSpan(path);
    S3AFileStatus given = information.getStatus();
    S3AFileStatus status =
        IOStatisticsBinding.trackDuration(
            statistics,
            Statistic.ACTION_FILE_OPENED.getSymbol(),
            () -> given != null ? given : fetchStatus(path));
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
            new DirectStreamRequests(
                fileSystem,
                span,
                context.getChangeDetectionPolicy(),
                statistics.getChangeTrackerStatistics()));
    S3EHadoopInputStream stream = new S3EHadoopInputStream(source, engine);
    stream.attach(engine, hints, opener);
    return new FSDataInputStream(stream);
  }

  private S3AFileStatus fetchStatus(Path path) throws IOException {
    return (S3AFileStatus) fileSystem.getFileStatus(path);
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
