// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.client.EarlyStart;
import io.s3e.hadoop.client.FileSystemClients;
import io.s3e.hadoop.client.HadoopTables;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.client.StreamChoice;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.hadoop.conf.UnknownKeys;
import io.s3e.hadoop.hadoop33.Reads;
import io.s3e.hadoop.hadoop341.DirectOpener;
import io.s3e.hadoop.hadoop341.StreamSpi;
import io.s3e.hadoop.history.JobHistory;
import io.s3e.hadoop.history.OpenedFile;
import io.s3e.hadoop.open.Announcements;
import io.s3e.hadoop.open.FileSystemAccess;
import io.s3e.hadoop.open.NextFiles;
import io.s3e.hadoop.open.NextFiles.NextFile;
import io.s3e.hadoop.setup.Requirements;
import io.s3e.hadoop.spark.SparkTask;
import io.s3e.hadoop.stats.FileSystemStatistics;
import io.s3e.hadoop.stats.HadoopMetrics;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.hadoop.stream.OpenHints;
import io.s3e.hadoop.stream.Opening;
import io.s3e.hadoop.stream.S3EReadable;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AReadOpContext;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.Statistic;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.util.Progressable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * S3A with its reads done by S3E: {@code fs.s3a.impl=io.s3e.hadoop.S3EFileSystem}. Writes, listing,
 * credentials, encryption, audit and delegation tokens are S3A's own.
 *
 * <p>On Hadoop 3.4.2 and later S3A opens the file and asks {@link S3EStreamFactory} for the stream;
 * on 3.4.1, which has no such seam, {@link DirectOpener} does both. Either way the stream that
 * comes back is lazy, and gets this file system's engine and the hints of {@code openFile()} before
 * it is handed out.
 *
 * <p>{@code fs.s3a.s3e.enabled=false}, for all buckets or for one, leaves a plain S3AFileSystem.
 */
public class S3EFileSystem extends S3AFileSystem {
  private static final Logger LOG = LoggerFactory.getLogger(S3EFileSystem.class);

  /** The settings by which S3A takes S3E's streams, from Hadoop 3.4.2 on. */
  static final Map<String, String> PINNED =
      Map.of(
          Constants.INPUT_STREAM_TYPE,
          Constants.INPUT_STREAM_TYPE_CUSTOM,
          Constants.INPUT_STREAM_CUSTOM_FACTORY,
          "io.s3e.hadoop.S3EStreamFactory",
          Constants.PREFETCH_ENABLED_KEY,
          "false");

  private final FileSystemStatistics readStatistics = new FileSystemStatistics(this::engineIfMade);
  private @Nullable ReadEngine engine;
  private @Nullable DirectOpener opener;

  /** On Hadoop 3.3, in place of all the others; null where S3A reads. */
  private @Nullable Reads reads33;

  /** Null where S3A reads. */
  private @Nullable Announcements announcements;

  /** Null where none is kept. */
  private final AtomicReference<@Nullable JobHistory> history = new AtomicReference<>();

  /** Null where S3A reads. */
  private @Nullable HadoopMetrics metrics;

  /**
   * @throws IOException if Hadoop is too old or a library is missing; names what was found and what
   *     is needed
   * @throws IllegalArgumentException if a setting of S3E's is not accepted; names the key, the
   *     value and what is accepted
   */
  @Override
  public void initialize(URI name, Configuration original) throws IOException {
    Requirements found = Requirements.check();
    HadoopTables.opened(this);
    String bucket = name.getHost();
    Configuration conf = S3AUtils.propagateBucketOptions(original, bucket);
    AdapterConfig config = AdapterConfig.read(conf, bucket);
    StreamChoice choice = StreamChoice.of(config, bucket, conf);
    if (choice == StreamChoice.S3E) {
      EarlyStart.begin(config, conf);
      super.initialize(name, found.isHadoop33() ? original : withStreams(original, bucket));
      // What S3A does is certain only now: a delegation token may bring keys.
      choice = StreamChoice.of(this);
    } else {
      super.initialize(name, original);
    }
    if (choice == StreamChoice.S3A_FOR_ENCRYPTION) {
      LOG.info("Reading {} by S3A's own stream: {}", name, choice.reason());
    }
    boolean reads = choice == StreamChoice.S3E;
    if (found.isHadoop33()) {
      if (reads && config.client() != ClientChoice.S3A) {
        reads33 = reads33(config, bucket);
        metrics = HadoopMetrics.register(getUri(), readStatistics);
      }
      return;
    }
    if (reads) {
      UnknownKeys.tell(getUri().toString(), original, bucket);
      sayOverridden(conf);
      prepareReads(config, bucket);
      history.set(JobHistory.join(config.history(), original, this));
      metrics = HadoopMetrics.register(getUri(), readStatistics);
    }
  }

  private Reads reads33(AdapterConfig config, String bucket) throws IOException {
    UnknownKeys.tell(getUri().toString(), getConf(), bucket);
    EngineFactory factory = new EngineFactory(config, getConf(), bucket);
    return new Reads(
        this,
        () -> statistics,
        new Reads.S3a() {
          @Override
          public FSDataInputStream open(Path path, int bufferSize) throws IOException {
            return S3EFileSystem.super.open(path, bufferSize);
          }

          @Override
          public CompletableFuture<FSDataInputStream> openFile(
              Path path, OpenFileParameters parameters, UnaryOperator<FSDataInputStream> made)
              throws IOException {
            return OpenedStreams.with(
                S3EFileSystem.super.openFileWithOptions(path, parameters), made);
          }
        },
        config.reach(),
        new HostOnHadoop33(
            getUri().toString(),
            factory,
            new AtomicReference<>(),
            readStatistics.onClientFallback()));
  }

  /** Only now, since S3A has added its credential providers, in which secrets may be. */
  private void prepareReads(AdapterConfig config, String bucket) throws IOException {
    try {
      EngineFactory cache = new EngineFactory(config, getConf(), bucket);
      ReadEngine own =
          new ReadEngine(
              getUri().toString(),
              config.engine().readTimeout(),
              new FileSystemClients(this, config, cache, readStatistics.onClientFallback()));
      Access access = new Access();
      engine = own;
      opener = StreamSpi.isPresent() ? null : new DirectOpener(access, own);
      announcements = new Announcements(access, own);
    } catch (IOException | RuntimeException e) {
      IOUtils.cleanupWithLogger(LOG, this);
      throw e;
    }
  }

  /**
   * One line if the user has chosen another stream of S3A's.
   *
   * @param conf with per-bucket overrides applied
   */
  private void sayOverridden(Configuration conf) {
    String overridden =
        PINNED.entrySet().stream()
            .filter(pinned -> isOther(conf.getTrimmed(pinned.getKey(), ""), pinned.getValue()))
            .map(pinned -> pinned.getKey() + " = \"" + conf.getTrimmed(pinned.getKey()) + "\"")
            .sorted()
            .collect(Collectors.joining(", "));
    if (!overridden.isEmpty()) {
      LOG.info(
          "Reading {} by S3E's streams in spite of {}, which {} = \"false\" would leave alone",
          getUri(),
          overridden,
          S3EKeys.ENABLED.name());
    }
  }

  private static boolean isOther(String value, String pinned) {
    return !value.isEmpty()
        && !value.equalsIgnoreCase(pinned)
        && !value.equalsIgnoreCase(Constants.INPUT_STREAM_TYPE_DEFAULT);
  }

  /** Selects S3E's streams against any selection by the general or the bucket's configuration. */
  private static Configuration withStreams(Configuration original, String bucket) {
    Configuration conf = new Configuration(original);
    if (StreamSpi.isPresent()) {
      PINNED.forEach((key, value) -> pin(conf, bucket, key, value));
    }
    return conf;
  }

  private static void pin(Configuration conf, String bucket, String key, String value) {
    conf.set(key, value);
    conf.set("fs.s3a.bucket." + bucket + "." + key.substring("fs.s3a.".length()), value);
  }

  /** S3A's, with S3E's stream. */
  @Override
  public FSDataInputStream open(Path rawPath, int bufferSize) throws IOException {
    Reads older = reads33;
    if (older != null) {
      OpenerStatistics.countHead();
      return older.open(rawPath, bufferSize);
    }
    Announcements files = announcements;
    if (files == null) {
      return super.open(rawPath, bufferSize);
    }
    prepareEngine();
    OpenerStatistics.countHead();
    Path path = qualify(rawPath);
    Opening opening = opening(path, OpenHints.NONE, files);
    announceAfter(rawPath);
    DirectOpener direct = opener;
    return direct != null
        ? direct.open(path, opening)
        : withEngine(super.open(path, bufferSize), opening);
  }

  /** As {@link #open(Path, int)}, with what the application tells. */
  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path rawPath, OpenFileParameters parameters) throws IOException {
    Reads older = reads33;
    if (older != null) {
      countHeadOf(parameters);
      return older.openFile(rawPath, parameters);
    }
    Announcements files = announcements;
    if (files == null) {
      return super.openFileWithOptions(rawPath, parameters);
    }
    prepareEngine();
    countHeadOf(parameters);
    Path path = qualify(rawPath);
    Opening opening = opening(path, OpenHints.of(parameters), files);
    announceAfter(rawPath);
    DirectOpener direct = opener;
    return direct != null
        ? direct.open(path, parameters, opening)
        : OpenedStreams.with(
            super.openFileWithOptions(path, parameters), opened -> withEngine(opened, opening));
  }

  /** S3A sends one if neither status nor length is told. */
  private static void countHeadOf(OpenFileParameters parameters) {
    if (parameters.getStatus() == null && !tellsLength(parameters.getOptions())) {
      OpenerStatistics.countHead();
    }
  }

  private static boolean tellsLength(Configuration options) {
    try {
      return options.getLong(OpenFileOptions.FS_OPTION_OPENFILE_LENGTH, -1) >= 0;
    } catch (NumberFormatException e) {
      // To S3A it is not told either.
      return false;
    }
  }

  /** S3A's. */
  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    if (announcements != null || reads33 != null) {
      OpenerStatistics.countHead();
    }
    return super.getFileStatus(path);
  }

  /** What the task opens next, where its engine has said so and it is in the same bucket. */
  private void announceAfter(Path opened) {
    NextFile next = NextFiles.after(opened);
    if (next != null
        && Objects.equals(next.path().toUri().getScheme(), opened.toUri().getScheme())
        && Objects.equals(next.path().toUri().getAuthority(), opened.toUri().getAuthority())) {
      announce(next.path(), next.length());
    }
  }

  private Opening opening(Path path, OpenHints hints, Announcements files) {
    JobHistory ofJob = history.get();
    String key = pathToKey(path);
    return new Opening(
        hints.orSplit(SparkTask.splitOf(path)),
        OpenerStatistics.ofThisThread(),
        files.find(path),
        ofJob == null || key.isEmpty()
            ? OpenedFile.NONE
            : ofJob.open(new ObjectRef(getBucket(), key)));
  }

  /**
   * Says that a file will be opened soon, by a task that is still busy with another one. Its last
   * 64 KiB, or all of it up to 1 MiB, are fetched as a guess: one GET, which gives way to reads and
   * whose failure is nobody's. A stream on the version that the GET has found is read without
   * another GET as far as it was fetched. Does not wait.
   *
   * <p>Nothing is fetched where S3A reads, where prefetch is off ({@code
   * fs.s3a.s3e.prefetch.enabled}), where there is no memory to spare, and where {@code
   * fs.s3a.change.detection.*} does not hold on to an ETag.
   *
   * @param length of the file in bytes, as a listing told it; if that is wrong the file is read as
   *     if it had not been announced
   * @throws IllegalArgumentException if {@code length} is negative
   */
  public void announce(Path path, long length) {
    if (length < 0) {
      throw new IllegalArgumentException(
          "Cannot announce " + path + " with " + length + " bytes: expected 0 or more");
    }
    Announcements files = announcements;
    if (files != null) {
      files.announce(qualify(path), length);
    }
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    changed(path);
    return untilClosed(
        path,
        super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress));
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    changed(path);
    return untilClosed(
        path,
        super.createNonRecursive(
            path, permission, flags, bufferSize, replication, blockSize, progress));
  }

  /** What is written is there once the stream is closed, and may have been announced before. */
  private FSDataOutputStream untilClosed(Path path, FSDataOutputStream out) throws IOException {
    return announcements == null
        ? out
        : new FSDataOutputStream(out.getWrappedStream(), null) {
          @Override
          public void close() throws IOException {
            try {
              super.close();
            } finally {
              changed(path);
            }
          }
        };
  }

  // S3A's own declaration is raw.
  @SuppressWarnings("rawtypes")
  @Override
  public FSDataOutputStreamBuilder createFile(Path path) {
    changed(path);
    return super.createFile(path);
  }

  @Override
  public boolean rename(Path source, Path target) throws IOException {
    changed(source);
    changed(target);
    try {
      return super.rename(source, target);
    } finally {
      changed(source);
      changed(target);
    }
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    changed(path);
    try {
      return super.delete(path, recursive);
    } finally {
      changed(path);
    }
  }

  /** By an operation of S3A's own, which creates nothing here. */
  @Override
  public void copyFromLocalFile(boolean delSrc, boolean overwrite, Path source, Path target)
      throws IOException {
    changed(target);
    try {
      super.copyFromLocalFile(delSrc, overwrite, source, target);
    } finally {
      changed(target);
    }
  }

  /**
   * S3A's. What a multipart uploader completes is not told of, whenever that is: once one is made,
   * nothing is fetched any more of files that are announced.
   */
  @Override
  protected AuditSpan entryPoint(Statistic operation, Path path) throws IOException {
    Announcements files = announcements;
    if (operation == Statistic.MULTIPART_UPLOAD_INSTANTIATED && files != null) {
      files.close();
    }
    return super.entryPoint(operation, path);
  }

  private void changed(Path path) {
    Announcements files = announcements;
    if (files != null) {
      files.changed(qualify(path));
    }
  }

  /** Beside the HEAD of S3A's that comes next. */
  private void prepareEngine() {
    ReadEngine own = engine;
    if (own != null) {
      own.prepare();
    }
  }

  private FSDataInputStream withEngine(FSDataInputStream opened, Opening opening) {
    ReadEngine own = engine;
    if (own != null && opened.getWrappedStream() instanceof S3EReadable stream) {
      stream.attach(own, opening);
    }
    return opened;
  }

  /**
   * S3A's; {@link S3EKeys#CAPABILITY} where streams are S3E's; and, once something has been read,
   * the {@link ClientChoice#capability()} of the client that reads now.
   */
  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    Reads older = reads33;
    if (S3EKeys.CAPABILITY.equalsIgnoreCase(capability)
        && (engine != null || (older != null && older.isByS3e()))) {
      return true;
    }
    S3E made = engineIfMade();
    return (made != null
            && (older == null || older.isByS3e())
            && ClientChoice.reading(made.client().name()).capability().equalsIgnoreCase(capability))
        || super.hasPathCapability(path, capability);
  }

  private @Nullable S3E engineIfMade() {
    Reads older = reads33;
    if (older != null) {
      return older.ifMade();
    }
    ReadEngine own = engine;
    return own == null ? null : own.ifMade();
  }

  /** S3A's, and what the engine counts. */
  @Override
  public IOStatistics getIOStatistics() {
    IOStatistics ofS3A = super.getIOStatistics();
    boolean reads = engine != null || reads33 != null;
    return reads && ofS3A != null ? readStatistics.beside(ofS3A) : ofS3A;
  }

  /** Ends all reads, then closes S3A. */
  @Override
  public void close() throws IOException {
    // From the last to the first, each whatever comes of those before it.
    try (Closeable tables = () -> HadoopTables.closed(this);
        Closeable s3a = super::close;
        DirectOpener direct = opener;
        Reads older = reads33;
        ReadEngine own = engine;
        Closeable ofJob = this::leaveHistory;
        Announcements files = announcements;
        HadoopMetrics told = metrics) {
      LOG.debug("Closing {}", this);
    }
  }

  /** While the engine is there, which has learnt. */
  private void leaveHistory() {
    JobHistory ofJob = history.getAndSet(null);
    try {
      if (ofJob != null) {
        ofJob.close(this);
      }
    } catch (RuntimeException | Error e) {
      LOG.warn("The history of {} is not left in order", getUri(), e);
    }
  }

  @Override
  public String toString() {
    ReadEngine own = engine;
    return own == null ? super.toString() : "S3EFileSystem{" + own + ", " + super.toString() + "}";
  }

  /** The answer to a HEAD of S3A's, whose class Hadoop 3.3 has not: this one links there too. */
  private Object head(String key) throws IOException {
    return getObjectMetadata(key, null, createStoreContext().getInvoker(), "open");
  }

  /** The protected parts of S3AFileSystem that opening files needs. */
  private final class Access implements FileSystemAccess {
    @Override
    public S3AFileSystem fileSystem() {
      return S3EFileSystem.this;
    }

    @Override
    public S3AFileStatus status(Path path) throws IOException {
      if (path.isRoot()) {
        throw new FileNotFoundException(path + " is a directory");
      }
      // Not getFileStatus, which asks by a LIST too where there is no such file; nor the internals'
      // HEAD, which counts as one of getFileStatus, on some versions in a span of its own.
      HeadObjectResponse head;
      try {
        head = (HeadObjectResponse) head(pathToKey(path));
      } catch (SdkException e) {
        IOException told = S3AUtils.translateException("open", path, e);
        throw told instanceof FileNotFoundException
            ? (IOException)
                new FileNotFoundException("No such file or directory: " + path).initCause(told)
            : told;
      }
      return new S3AFileStatus(
          head.contentLength(),
          head.lastModified().toEpochMilli(),
          path,
          getDefaultBlockSize(path),
          getUsername(),
          head.eTag(),
          head.versionId());
    }

    @Override
    public AuditSpan openSpan(Path path) throws IOException {
      return entryPoint(Statistic.INVOCATION_OPEN, path);
    }

    @Override
    public S3AReadOpContext readContext(FileStatus status, AuditSpan span) {
      return createReadContext(status, span);
    }

    @Override
    public @Nullable Statistics fileSystemStatistics() {
      return statistics;
    }
  }
}
