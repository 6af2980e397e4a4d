// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ByteRange;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.client.RevisionCheckingClient;
import io.s3e.hadoop.history.OpenedFile;
import io.s3e.hadoop.open.AnnouncedFile;
import io.s3e.hadoop.spark.SparkTask;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.hadoop.stats.StreamStatistics;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of an open file that outlives a forgotten stream object: the core's stream, S3A's
 * statistics and the audit span. {@link S3EHadoopInputStream} holds it; nothing here refers back,
 * so that the stream can be collected, and then reported as leaked, while this still prefetches.
 *
 * <p>States: <i>lazy</i> (nothing sent; hints may still change), <i>reading</i> (the core's stream
 * exists), <i>closed</i>. The lock guards the transitions only; reads run outside it, and so does
 * the wait of the first read for its engine, which {@link #close} ends.
 */
final class OpenStream {
  private static final Logger LOG = LoggerFactory.getLogger(OpenStream.class);

  private final StreamStatistics counting;
  private final StreamSource source;

  // Guarded by this; the volatile field is read without the lock on the read path.
  private ReadEngine engine;
  private Opening opening;
  private long readahead;
  private volatile @Nullable S3EInputStream stream;
  private volatile boolean closed;

  /** Complete once the stream is closed. */
  private final CompletableFuture<Void> end = new CompletableFuture<>();

  OpenStream(StreamSource source, ReadEngine engine) {
    this.source = source;
    this.counting =
        new StreamStatistics(
            source.statistics(),
            source.context().getStats(),
            source.context().getS3AStatisticsContext());
    this.engine = engine;
    opening =
        new Opening(
            OpenHints.NONE,
            OpenerStatistics.of(source.context().getIOStatisticsAggregator()),
            null,
            OpenedFile.NONE);
    readahead = source.context().getReadahead();
  }

  StreamSource source() {
    return source;
  }

  boolean isOpen() {
    return !closed;
  }

  /** Reads by another engine and as opened, if nothing has been read yet. */
  synchronized void attach(ReadEngine newEngine, Opening newOpening) {
    if (stream == null) {
      engine = newEngine;
      opening = newOpening;
    }
  }

  /** The core's stream if something has been read; null before. */
  @Nullable S3EInputStream ifReading() {
    return stream;
  }

  /**
   * The core's stream, opened now if this is the first read.
   *
   * @throws IOException if the stream is closed or the engine cannot be made
   */
  S3EInputStream reading() throws IOException {
    S3EInputStream current = stream;
    if (current != null && !closed) {
      return current;
    }
    checkOpen();
    ReadEngine from;
    AnnouncedFile announced;
    synchronized (this) {
      from = engine;
      announced = opening.announced();
    }
    S3E made;
    try {
      made = from.engine(end);
      if (announced != null) {
        announced.awaitAnswer();
      }
    } catch (IOException e) {
      checkOpen();
      throw e;
    }
    synchronized (this) {
      checkOpen();
      current = stream;
      if (current == null) {
        current = open(made);
        stream = current;
        LOG.debug("Reading {} by {}", source.path(), from);
      }
      return current;
    }
  }

  /** Length of the file in bytes: what S3A or the caller said, until the store says less. */
  long length() {
    S3EInputStream current = stream;
    return current == null ? source.length() : current.size();
  }

  void checkOpen() throws IOException {
    if (closed) {
      throw new IOException(FSExceptionMessages.STREAM_IS_CLOSED + ": " + source.path());
    }
  }

  /** 0 for the default. */
  synchronized void setReadahead(long bytes) {
    readahead = bytes;
    S3EInputStream current = stream;
    if (current != null) {
      current.setReadahead(bytes);
    }
  }

  synchronized ReadPolicy policy() {
    ReadPolicy named = opening.hints().policy();
    return named != null ? named : OpenHints.of(source.context().getInputPolicy());
  }

  /** Counts what the stream does. */
  StreamStatistics counting() {
    return counting;
  }

  /**
   * Ends the stream: cancels its requests, ends the audit span, and adds the statistics to those of
   * the file system and of the thread that opened it. Idempotent.
   */
  void close() throws IOException {
    S3EInputStream current;
    Opening opened;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      current = stream;
      opened = opening;
    }
    end.complete(null);
    try {
      if (current != null) {
        current.close();
      }
    } finally {
      try {
        source.requests().close();
      } finally {
        counting.end(opened.opener());
        opened.history().closed(counting.blockedNanos());
        AnnouncedFile announced = opened.announced();
        if (announced != null && current != null) {
          announced.mergeInto(opened.opener());
        }
      }
    }
  }

  /** Sends nothing, since the length is known. */
  private S3EInputStream open(S3E made) throws IOException {
    S3EInputStream opened = made.open(source.object(), options());
    if (readahead > 0) {
      opened.setReadahead(readahead);
    }
    return opened;
  }

  private OpenOptions options() {
    boolean pinned =
        RevisionCheckingClient.pinsVersion(source.context().getChangeDetectionPolicy());
    OpenOptions options =
        OpenOptions.DEFAULTS
            .withPolicy(policy())
            .withSize(source.length())
            .withContext(source.requests())
            .withHeaders(source.requests().customerKey(source.object().key()))
            .withListener(counting)
            .withCancelled(SparkTask.isPossible() ? SparkTask::killed : null)
            .withLabel(SparkTask.label())
            .withPast(opening.history().past());
    AnnouncedFile announced = opening.announced();
    if (announced != null && pinned) {
      options = options.withAnnounced(announced.announcement());
    }
    if (pinned) {
      options = options.withVersion(etagToRead(), versionToRead());
    }
    ByteRange split = opening.hints().split();
    return split == null
        ? options.withSplits(SparkTask.splits(source.context().getPath()))
        : options.withSplit(
            new ByteRange(
                Math.min(split.start(), source.length()), Math.min(split.end(), source.length())));
  }

  /** Asking for a version by id needs another permission than reading, so only if configured. */
  private boolean asksForVersion() {
    return RevisionCheckingClient.asksForVersion(source.context().getChangeDetectionPolicy());
  }

  private @Nullable String versionToRead() {
    return asksForVersion() ? source.versionId() : null;
  }

  /**
   * None where a version is to be asked for by an id that nobody has told: the version of the first
   * answer is read then, as by S3A, and may be newer than the listing that told an ETag.
   */
  private @Nullable String etagToRead() {
    return asksForVersion() && source.versionId() == null ? null : quoted(source.etag());
  }

  /** As in the ETag header; a status made by hand may lack the quotes. */
  private static @Nullable String quoted(@Nullable String etag) {
    if (etag == null || etag.isEmpty()) {
      return null;
    }
    return etag.endsWith("\"") ? etag : "\"" + etag + "\"";
  }
}
