// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ClientProvider;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.fallback.FallbackClient;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.AWSCredentialProviderList;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AInputStream;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads of one file system on Hadoop 3.3. S3A opens each file, with its own checks, audit and
 * statistics, and its stream, which asks the store for nothing until it is read, stays behind S3E's
 * as the way back.
 *
 * <p><b>States.</b> <i>Undecided</i>, until the first read; then <i>by S3E</i>, once the store has
 * answered S3E's client; or <i>by S3A</i>, for good, where S3A's settings are for its own client
 * alone, where the CRT cannot be used, or where S3E's client does not reach the store and S3A's
 * does: {@link FirstContact} has a read fail soon, S3A's stream does it, and S3E's client fails
 * once more. If S3A's stream fails too, the store is down, and it stays undecided. The way to S3A
 * is said once: what S3A is told to do by INFO, what S3E's client cannot by a WARN that is counted.
 * <i>Closed</i> ends each of them. Any thread.
 */
public final class Reads implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Reads.class);

  /** What the file system would do without S3E. */
  public interface S3a {
    FSDataInputStream open(Path path, int bufferSize) throws IOException;

    /**
     * @param made what is given out in place of S3A's stream
     */
    CompletableFuture<FSDataInputStream> openFile(
        Path path, OpenFileParameters parameters, UnaryOperator<FSDataInputStream> made)
        throws IOException;
  }

  /** What the adapter has for the file systems of all Hadoops. */
  public interface Host {
    /**
     * Makes a tenant of the JVM's engine.
     *
     * @param reads its owner, which is closed when the process ends
     * @param secret why objects must not be written to local disk; null if they may
     */
    S3E create(Closeable reads, String store, @Nullable String secret, ClientProvider client)
        throws IOException;

    /** The tenant has been closed by its owner. One whose owner was forgotten ends by itself. */
    void closed(Closeable reads);

    /** Counts what one stream reads that the calling thread opens. */
    Account account();

    /**
     * @param names of read policies, Hadoop's or S3A's, with commas between them
     * @return the first that S3E knows, else the adaptive one
     */
    ReadPolicy policy(String names);

    /**
     * Adds the split, and what else the task of the calling thread, which opens a file, tells.
     *
     * @param options of {@code openFile()}
     */
    OpenOptions ofTask(Path path, Configuration options, OpenOptions told);

    /** Names the task of the calling thread, the first that reads a stream; null if it has none. */
    @Nullable String label();

    /** S3A's streams read from now on, since S3E's client cannot; called once. */
    void fellBack();
  }

  /** Where the work of one stream is counted. */
  public interface Account {
    /**
     * Hears of the stream's work; called once.
     *
     * @param get runs for each GET that goes out; any thread
     */
    StreamListener listener(Runnable get);

    /**
     * The stream is closed; called once.
     *
     * @param ofS3a the counts of S3A's stream
     * @param bytesByS3e what readers of the stream got from S3E, in bytes
     */
    void end(@Nullable IOStatistics ofS3a, long bytesByS3e);
  }

  private enum Way {
    UNDECIDED,
    S3E,
    S3A
  }

  private final S3AFileSystem fileSystem;
  private final Supplier<FileSystem.Statistics> statistics;
  private final S3a s3a;
  private final AwsClientSettings.Builder reach;
  private final Host host;
  private final S3aClient client;
  private final UserGroupInformation user;
  private final Map<String, String> headers;

  private final AtomicReference<Way> way = new AtomicReference<>(Way.UNDECIDED);

  /** As the engine, and never taken away. */
  private volatile @Nullable S3E counted;

  // Guarded by this.
  private @Nullable S3E engine;
  private @Nullable AWSCredentialProviderList credentials;
  private boolean closed;

  /**
   * For the current user.
   *
   * @param fileSystem initialized
   * @param statistics those of now: a FileContext puts its own in their place later
   * @param reach settings of S3E's client that are not S3A's
   */
  public Reads(
      S3AFileSystem fileSystem,
      Supplier<FileSystem.Statistics> statistics,
      S3a s3a,
      AwsClientSettings.Builder reach,
      Host host)
      throws IOException {
    this.fileSystem = fileSystem;
    this.user = UserGroupInformation.getCurrentUser();
    this.statistics = statistics;
    this.s3a = s3a;
    this.reach = reach;
    this.host = host;
    client = new S3aClient(fileSystem);
    headers = client.headers();
  }

  /**
   * What is known of a file system's reads before there are any.
   *
   * @param reasonForS3a why S3A's streams would read, in words that end a sentence; null if S3E's
   * @param store the endpoint
   * @param secret why objects must not be written to local disk; null if they may
   */
  public record Outlook(@Nullable String reasonForS3a, String store, @Nullable String secret) {}

  /** Sends nothing to the store. */
  public static Outlook outlook(S3AFileSystem fileSystem) {
    S3aClient client = new S3aClient(fileSystem);
    return new Outlook(reasonForS3a(client), client.store(), client.secret());
  }

  private static @Nullable String reasonForS3a(S3aClient client) {
    String reason = client.reasonAgainstOwn();
    return reason == null ? CrtLibrary.unusableBecause() : reason;
  }

  /**
   * The tenant that has read, whose counts stand when S3A's streams read in its place, and when
   * this is closed; null before the first read.
   */
  public @Nullable S3E ifMade() {
    return counted;
  }

  /** As {@code FileSystem.open}: one HEAD, by S3A, whose ETag all reads hold on to. */
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    Path whole = fileSystem.makeQualified(path);
    Account account = host.account();
    OpenOptions told = told(whole, new Configuration(false));
    return over(s3a.open(path, bufferSize), whole, null, told, account);
  }

  /** As {@code openFile().build()}, with what it tells. */
  public CompletableFuture<FSDataInputStream> openFile(Path path, OpenFileParameters parameters)
      throws IOException {
    Path whole = fileSystem.makeQualified(path);
    // Here, and not where S3A has opened the file, which may be a thread of its own.
    Account account = host.account();
    OpenOptions told = told(whole, parameters.getOptions());
    FileStatus status = parameters.getStatus();
    return s3a.openFile(path, parameters, opened -> over(opened, whole, status, told, account));
  }

  private OpenOptions told(Path whole, Configuration options) {
    String policies =
        options.getTrimmed(
            "fs.option.openfile.read.policy",
            options.getTrimmed(
                "fs.s3a.experimental.input.fadvise", fileSystem.getInputPolicy().name()));
    OpenOptions told = OpenOptions.DEFAULTS.withPolicy(host.policy(policies)).withHeaders(headers);
    return host.ofTask(whole, options, told);
  }

  private FSDataInputStream over(
      FSDataInputStream opened,
      Path whole,
      @Nullable FileStatus status,
      OpenOptions told,
      Account account) {
    if (way.get() == Way.S3A || !(opened.getWrappedStream() instanceof S3AInputStream theirs)) {
      return opened;
    }
    long size = theirs.remainingInFile();
    ByteRange split = told.split();
    OpenOptions options =
        told.withSize(size)
            .withVersion(etag(status, theirs), null)
            .withListener(account.listener(theirs.getS3AStreamStatistics()::streamOpened))
            .withSplit(
                split == null
                    ? null
                    : new ByteRange(Math.min(split.start(), size), Math.min(split.end(), size)));
    ObjectRef object = new ObjectRef(fileSystem.getBucket(), fileSystem.pathToKey(whole));
    return new FSDataInputStream(
        new Hadoop33InputStream(this, object, options, theirs, statistics.get(), account));
  }

  /** That of the status, else that of S3A's HEAD; null if there was neither. */
  private static @Nullable String etag(@Nullable FileStatus status, S3AInputStream theirs) {
    String told = status instanceof EtagSource known ? known.getEtag() : null;
    String etag = told == null || told.isEmpty() ? HeldVersion.etag(theirs) : told;
    if (etag == null || etag.isEmpty()) {
      return null;
    }
    // S3A leaves the quotes out, and others may not.
    return etag.endsWith("\"") ? etag : '"' + etag + '"';
  }

  /** S3E's stream; null where S3A's is to read. */
  @Nullable S3EInputStream stream(ObjectRef object, OpenOptions options) throws IOException {
    S3E made = engine();
    return made == null ? null : made.open(object, options.withLabel(host.label()));
  }

  private synchronized @Nullable S3E engine() throws IOException {
    if (closed) {
      throw new IOException("Filesystem closed: " + fileSystem.getUri());
    }
    if (isByS3e() && engine == null) {
      make();
    }
    return way.get() == Way.S3A ? null : engine;
  }

  private synchronized void make() throws IOException {
    AWSCredentialProviderList shared = fileSystem.shareCredentials("S3E");
    try {
      AwsClientSettings settings = client.settings(reach, S3aClient.of(shared, user));
      ClientProvider crt = AwsClients.crt(settings);
      // Not this, so that the tenant does not keep its owner.
      AtomicReference<Way> way = this.way;
      engine =
          host.create(
              this,
              client.store(),
              client.secret(),
              memory -> new FirstContact(crt.create(memory), () -> came(way)));
      counted = engine;
      credentials = shared;
    } catch (CrtUnusableException e) {
      fallBack(String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException | LinkageError e) {
      fallBack(e.toString());
    } finally {
      if (engine == null) {
        shared.close();
      }
    }
  }

  /** Whether S3E's streams read, as far as that is known without a request. */
  public synchronized boolean isByS3e() {
    if (isUndecided() && engine == null) {
      String asked = client.reasonAgainstOwn();
      String problem = asked == null ? CrtLibrary.unusableBecause() : null;
      if (problem != null) {
        fallBack(problem);
      } else if (asked != null && way.getAndSet(Way.S3A) != Way.S3A) {
        LOG.info("Reading {} by S3A's own stream: {}", fileSystem.getUri(), asked);
      }
    }
    return !isByS3a();
  }

  private void fallBack(String problem) {
    if (way.getAndSet(Way.S3A) != Way.S3A) {
      tellOfFallback(problem);
    }
  }

  private void tellOfFallback(String problem) {
    host.fellBack();
    LOG.warn(
        "Reading {} by S3A's own stream, which is slower: S3E's client cannot ({})."
            + " docs/TROUBLESHOOTING.md says under \"Which client reads\" what helps;"
            + " fs.s3a.s3e.client = \"s3a\" chooses S3A's stream without a warning",
        fileSystem.getUri(),
        problem);
  }

  /** Whether S3A's streams read, from now on. */
  boolean isByS3a() {
    return way.get() == Way.S3A;
  }

  /** Whether nothing has been read yet. */
  boolean isUndecided() {
    return way.get() == Way.UNDECIDED;
  }

  /** Something has come by S3E's client. */
  void came() {
    came(way);
  }

  private static void came(AtomicReference<Way> way) {
    if (way.get() == Way.UNDECIDED) {
      var unused = way.compareAndSet(Way.UNDECIDED, Way.S3E);
    }
  }

  /** Whether S3A's stream is to do a read that S3E's client has failed to do. */
  boolean goBack(IOException failure) {
    if (Failures.isInterrupt(failure)) {
      return false;
    }
    if (Failures.kind(failure) == Kind.NO_ETAG || FallbackClient.isLinkage(failure)) {
      fallBack(String.valueOf(failure.getMessage()));
    }
    // One that gave up in doubt goes back, also where another has reached the store meanwhile.
    return isByS3a()
        || Failures.isInDoubt(failure)
        || (isUndecided() && Failures.isUnreached(failure));
  }

  /** A read by S3E. */
  interface OnceMore {
    int read() throws IOException;
  }

  /**
   * S3A's stream has done a read that S3E's client has failed to do. If that fails once more, S3A's
   * read for good.
   */
  void decide(OnceMore byS3e) {
    if (!isUndecided()) {
      return;
    }
    try {
      int unused = byS3e.read();
      came();
    } catch (IOException e) {
      if (Failures.isUnreached(e) && way.compareAndSet(Way.UNDECIDED, Way.S3A)) {
        tellOfFallback(String.valueOf(e.getMessage()));
      }
    }
  }

  /** Ends all reads by S3E. Idempotent. */
  @Override
  public void close() {
    S3E made;
    AWSCredentialProviderList shared;
    synchronized (this) {
      closed = true;
      made = engine;
      shared = credentials;
      engine = null;
      credentials = null;
    }
    try (shared;
        made) {
      // The tenant first, and its credentials whatever comes of that.
    } finally {
      if (made != null) {
        host.closed(this);
      }
    }
  }
}
