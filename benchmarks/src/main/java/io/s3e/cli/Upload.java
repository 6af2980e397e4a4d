// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.block.ObjectRef;
import io.s3e.cli.PartSource.Part;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.NoSuchUploadException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * Brings one source into one object: by one PUT if it has one part, else by a multipart upload with
 * {@code parallel} parts under way. The caller's thread reads the source and blocks while that many
 * are; a pool of as many threads, owned by the upload, sends.
 *
 * <p><b>The end.</b> A multipart upload is either completed or aborted, once: by {@link #close} or
 * by the interruption of the process, whichever comes first; the other waits. Before it is aborted
 * the parts under way get a while to end, since one that arrives later would stay, and cost, for
 * ever.
 */
final class Upload implements AutoCloseable {
  private static final int NOT_IMPLEMENTED = 501;
  private static final int NOT_FOUND = 404;
  private static final int EXISTS = 412;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final String ONLY_IF_ABSENT = "*";

  /**
   * The place and the form of the bytes in the store.
   *
   * @param object where they go
   * @param existing what may become of an object of that name
   * @param contentType of the object
   * @param metadata of the object
   * @param storageClass null for the bucket's
   * @param checksum of every request with a body
   */
  record Target(
      ObjectRef object,
      Existing existing,
      String contentType,
      Map<String, String> metadata,
      @Nullable String storageClass,
      Checksum checksum) {}

  /** What is known of an object of the same name. */
  enum Existing {
    /** It may be replaced. */
    REPLACED,
    /** The store has said that there is none. */
    SEEN_ABSENT,
    /** The store does not say whether there is one; it may not be replaced. */
    UNKNOWN
  }

  /** The store's answer about the object; null for a part that it did not give. */
  record Stored(@Nullable String etag, @Nullable String versionId) {}

  private final S3Client s3;
  private final Target target;
  private final LongConsumer progress;
  private final Duration patience;
  private final AtomicLong bytes = new AtomicLong();
  private final ExecutorService threads;
  private final Semaphore free;
  private final AtomicBoolean failed = new AtomicBoolean();
  private final AtExit atExit;

  /** The multipart upload that has to be ended; null before and after. Guarded by this. */
  private @Nullable String unfinished;

  /** What an abort has left; null if nothing. Guarded by this. */
  private @Nullable String stays;

  /** Nothing may begin any more, and bodies break off. Written under the lock of this. */
  private volatile boolean ended;

  /**
   * @param progress hears, from any thread, how many bytes were sent so far
   */
  Upload(S3Client s3, Target target, int parallel, LongConsumer progress) {
    this(s3, target, parallel, progress, PATIENCE);
  }

  /**
   * @param patience how long an abort waits for the parts under way
   */
  Upload(S3Client s3, Target target, int parallel, LongConsumer progress, Duration patience) {
    this.s3 = s3;
    this.target = target;
    this.progress = progress;
    this.patience = patience;
    this.threads =
        Executors.newFixedThreadPool(
            parallel,
            task -> {
              Thread thread = new Thread(task, "s3e-upload");
              thread.setDaemon(true);
              return thread;
            });
    this.free = new Semaphore(parallel);
    this.atExit = new AtExit("abort-upload", this::abortAtExit);
  }

  /**
   * Uploads all of the source.
   *
   * @throws SdkException if the store refuses, 412 if the object exists and may not be replaced
   * @throws IOException if the source cannot be read, or the store does not tell whether the object
   *     exists, or whether it is this upload's
   */
  Stored send(PartSource source) throws IOException, InterruptedException {
    Part first = source.next();
    if (first == null) {
      throw new IllegalStateException("a source without a first part");
    }
    Part second = source.next();
    return second == null ? sendWhole(first) : sendParts(first, second, source);
  }

  /** Bytes sent so far. */
  long bytes() {
    return bytes.get();
  }

  private Stored sendWhole(Part part) throws IOException {
    return stored(
        () -> ETags.ofWhole(part.open()),
        condition -> {
          var answer =
              s3.putObject(
                  request ->
                      request
                          .bucket(target.object().bucket())
                          .key(target.object().key())
                          .contentType(target.contentType())
                          .metadata(target.metadata())
                          .storageClass(target.storageClass())
                          .checksumAlgorithm(target.checksum().algorithm())
                          .ifNoneMatch(condition),
                  body(part));
          return new Stored(answer.eTag(), answer.versionId());
        });
  }

  private Stored sendParts(Part first, Part second, PartSource source)
      throws IOException, InterruptedException {
    String id = begin();
    List<Future<CompletedPart>> sent = new ArrayList<>();
    sent.add(submit(id, first));
    sent.add(submit(id, second));
    for (Part part = source.next(); part != null && !failed.get(); part = source.next()) {
      sent.add(submit(id, part));
    }
    List<CompletedPart> parts = new ArrayList<>();
    for (Future<CompletedPart> part : sent) {
      parts.add(await(part));
    }
    return complete(id, parts);
  }

  /** Holds the lock, so that an interruption sees what the store has begun, or comes before it. */
  private synchronized String begin() throws InterruptedIOException {
    if (ended) {
      throw new InterruptedIOException("the upload was interrupted before it began");
    }
    String id =
        s3.createMultipartUpload(
                request ->
                    request
                        .bucket(target.object().bucket())
                        .key(target.object().key())
                        .contentType(target.contentType())
                        .metadata(target.metadata())
                        .storageClass(target.storageClass())
                        .checksumAlgorithm(target.checksum().algorithm()))
            .uploadId();
    unfinished = id;
    return id;
  }

  private Future<CompletedPart> submit(String id, Part part) throws InterruptedException {
    free.acquire();
    return threads.submit(
        () -> {
          boolean done = false;
          try {
            CompletedPart completed = sendPart(id, part);
            done = true;
            return completed;
          } finally {
            if (!done) {
              failed.set(true);
            }
            part.release();
            free.release();
          }
        });
  }

  private CompletedPart sendPart(String id, Part part) {
    UploadPartResponse answer =
        s3.uploadPart(
            request ->
                request
                    .bucket(target.object().bucket())
                    .key(target.object().key())
                    .uploadId(id)
                    .partNumber(part.number())
                    .checksumAlgorithm(target.checksum().algorithm()),
            body(part));
    // The store wants to hear again what it has confirmed.
    return CompletedPart.builder()
        .partNumber(part.number())
        .eTag(answer.eTag())
        .checksumCRC32(answer.checksumCRC32())
        .checksumCRC32C(answer.checksumCRC32C())
        .checksumCRC64NVME(answer.checksumCRC64NVME())
        .checksumSHA1(answer.checksumSHA1())
        .checksumSHA256(answer.checksumSHA256())
        .build();
  }

  private synchronized Stored complete(String id, List<CompletedPart> parts) throws IOException {
    Stored stored =
        stored(
            () -> ETags.ofParts(parts.stream().map(CompletedPart::eTag).toList()),
            condition -> {
              var answer =
                  s3.completeMultipartUpload(
                      request ->
                          request
                              .bucket(target.object().bucket())
                              .key(target.object().key())
                              .uploadId(id)
                              .multipartUpload(upload -> upload.parts(parts))
                              .ifNoneMatch(condition));
              return new Stored(answer.eTag(), answer.versionId());
            });
    unfinished = null;
    return stored;
  }

  /**
   * Sends what makes the object. Where the answer to a first attempt was lost, the second is
   * refused for what the first has done: the object there is this upload's if its ETag is.
   */
  private Stored stored(ETags.Source expected, Function<@Nullable String, Stored> request)
      throws IOException {
    try {
      return onlyIfAbsent(request);
    } catch (S3Exception e) {
      Integer attempts = e.numAttempts();
      boolean mayBeDone = e.statusCode() == EXISTS || e.statusCode() == NOT_FOUND;
      if (!mayBeDone || attempts == null || attempts < 2) {
        throw e;
      }
      return found(expected, e);
    }
  }

  private Stored found(ETags.Source expected, S3Exception refusal) throws IOException {
    try {
      HeadObjectResponse head =
          s3.headObject(
              request -> request.bucket(target.object().bucket()).key(target.object().key()));
      if (head.eTag() != null && head.eTag().equals(expected.etag())) {
        return new Stored(head.eTag(), head.versionId());
      }
    } catch (NoSuchKeyException absent) {
      refusal.addSuppressed(absent);
      throw refusal;
    } catch (SdkException unknown) {
      refusal.addSuppressed(unknown);
    }
    IOException unknown =
        new IOException(
            "the store's answer was lost, and it refuses what was sent again (HTTP "
                + refusal.statusCode()
                + "): what is there may be this upload or somebody else's; s3e stat tells its ETag"
                + " and time, --force replaces it");
    unknown.addSuppressed(refusal);
    throw unknown;
  }

  /**
   * Sends with the condition that there is no such object, unless it may be replaced. To a store
   * that does not know the condition it is sent without, if that store has said that there is none.
   */
  private Stored onlyIfAbsent(Function<@Nullable String, Stored> request) throws IOException {
    if (target.existing() == Existing.REPLACED) {
      return request.apply(null);
    }
    try {
      return request.apply(ONLY_IF_ABSENT);
    } catch (S3Exception e) {
      if (e.statusCode() != NOT_IMPLEMENTED) {
        throw e;
      }
      if (target.existing() == Existing.UNKNOWN) {
        IOException unknown =
            new IOException(
                "the store does not tell whether the object exists: it refuses HEAD (HTTP 403), and"
                    + " does not know If-None-Match (HTTP 501); --force writes it, and replaces"
                    + " what there is");
        unknown.addSuppressed(e);
        throw unknown;
      }
      return request.apply(null);
    }
  }

  private RequestBody body(Part part) {
    AtomicLong counted = new AtomicLong();
    return RequestBody.fromContentProvider(
        () -> {
          // Signing and retries read it anew; what was counted for them was not sent.
          count(-counted.getAndSet(0));
          return new UploadBody(
              part.open(),
              () -> ended,
              more -> {
                counted.addAndGet(more);
                count(more);
              });
        },
        part.length(),
        target.contentType());
  }

  private void count(long more) {
    progress.accept(bytes.addAndGet(more));
  }

  private static CompletedPart await(Future<CompletedPart> part)
      throws IOException, InterruptedException {
    try {
      return part.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SdkException refused) {
        throw refused;
      }
      throw new IOException("A part could not be sent: " + e.getCause(), e.getCause());
    }
  }

  /**
   * Ends the threads; aborts the upload if it was not completed.
   *
   * @throws UnabortedUploadException if parts of it may stay in the store
   */
  @Override
  public void close() throws UnabortedUploadException {
    try {
      abort();
    } finally {
      // Now: an interruption meanwhile waits for the abort, and tells what it leaves.
      atExit.close();
    }
  }

  private synchronized void abort() throws UnabortedUploadException {
    ended = true;
    threads.shutdownNow();
    String id = unfinished;
    if (id == null) {
      return;
    }
    unfinished = null;
    boolean isQuiet;
    boolean isInterrupted = false;
    try {
      isQuiet = threads.awaitTermination(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      // The flag waits for the end: with it set the client would not send the abort.
      isInterrupted = true;
      isQuiet = threads.isTerminated();
    }
    try {
      s3.abortMultipartUpload(
          request ->
              request.bucket(target.object().bucket()).key(target.object().key()).uploadId(id));
    } catch (NoSuchUploadException gone) {
      return;
    } catch (SdkException e) {
      stays = "the multipart upload " + id + " is not aborted, its parts stay: " + e.getMessage();
      throw new UnabortedUploadException(stays, e);
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (!isQuiet) {
      stays =
          "the multipart upload "
              + id
              + " was aborted while parts were under way; those that arrive later stay";
      throw new UnabortedUploadException(stays, null);
    }
  }

  private void abortAtExit() {
    String left = abortNow();
    if (left != null) {
      System.err.println("Upload of " + target.object() + ": " + left);
    }
  }

  /** Aborts, unless somebody has; what may stay in the store then, null if nothing. */
  synchronized @Nullable String abortNow() {
    try {
      abort();
    } catch (UnabortedUploadException e) {
      // As the field says.
    }
    return stays;
  }
}
