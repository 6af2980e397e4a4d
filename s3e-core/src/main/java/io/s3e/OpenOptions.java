// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.ByteRange;
import io.s3e.columnar.LayoutMemory;
import io.s3e.columnar.SplitSource;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.Announcement;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How one stream is opened. Immutable; {@link #DEFAULTS} changed by the {@code with…} methods.
 *
 * @param policy expected order of reads
 * @param size length of the object in bytes if the caller knows it, which saves a HEAD; -1 if not.
 *     Reads end there, whatever the object has
 * @param etag the version that must be read, as S3 gave it; null reads whatever the first answer is
 *     and holds on to that
 * @param versionId version to read in a versioned bucket; null for the latest
 * @param split the bytes that the reader expects to need; prefetch stops at their end, reads do
 *     not. Null if that is unknown
 * @param splits asked for the split where {@code split} is null: at most once, by a thread that
 *     reads, when columns of a Parquet or ORC file are read first
 * @param headers sent with every request for this stream
 * @param context handed to the client with every request for this stream; null if it needs none.
 *     Streams with a context of their own share blocks all the same
 * @param listener hears what the stream causes
 * @param announced what {@link S3E#announce} has fetched of the object; null if nothing. It is used
 *     where size and ETag agree; without an ETag, its own is taken
 * @param cancelled asked by each thread that reads before it waits, and while it waits, for words
 *     why its read is to end; null, and null answers, let it go on
 * @param label names the reader in records of GETs, for example a task; null if it has no name
 * @param past what other JVMs have learnt, to guess by where this one has learnt nothing; or null
 */
public record OpenOptions(
    ReadPolicy policy,
    long size,
    @Nullable String etag,
    @Nullable String versionId,
    @Nullable ByteRange split,
    SplitSource splits,
    Map<String, String> headers,
    @Nullable Object context,
    StreamListener listener,
    @Nullable Announcement announced,
    @Nullable Supplier<@Nullable String> cancelled,
    @Nullable String label,
    @Nullable LayoutMemory past) {

  /** Adaptive policy, everything else unknown. */
  public static final OpenOptions DEFAULTS =
      new OpenOptions(
          ReadPolicy.ADAPTIVE,
          -1,
          null,
          null,
          null,
          SplitSource.UNKNOWN,
          Map.of(),
          null,
          StreamListener.NONE,
          null,
          null,
          null,
          null);

  public OpenOptions {
    Objects.requireNonNull(policy, "policy");
    Objects.requireNonNull(splits, "splits");
    Objects.requireNonNull(listener, "listener");
    headers = Map.copyOf(headers);
    if (size < -1) {
      throw new IllegalArgumentException("size " + size + ": expected -1 (unknown) or more");
    }
  }

  public OpenOptions withPolicy(ReadPolicy value) {
    return new OpenOptions(
        value, size, etag, versionId, split, splits, headers, context, listener, announced,
        cancelled, label, past);
  }

  public OpenOptions withSize(long value) {
    return new OpenOptions(
        policy, value, etag, versionId, split, splits, headers, context, listener, announced,
        cancelled, label, past);
  }

  public OpenOptions withVersion(@Nullable String tag, @Nullable String id) {
    return new OpenOptions(
        policy, size, tag, id, split, splits, headers, context, listener, announced, cancelled,
        label, past);
  }

  public OpenOptions withSplit(@Nullable ByteRange value) {
    return new OpenOptions(
        policy, size, etag, versionId, value, splits, headers, context, listener, announced,
        cancelled, label, past);
  }

  public OpenOptions withSplits(SplitSource value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, value, headers, context, listener, announced,
        cancelled, label, past);
  }

  public OpenOptions withHeaders(Map<String, String> value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, value, context, listener, announced,
        cancelled, label, past);
  }

  public OpenOptions withContext(@Nullable Object value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, headers, value, listener, announced,
        cancelled, label, past);
  }

  public OpenOptions withListener(StreamListener value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, headers, context, value, announced, cancelled,
        label, past);
  }

  public OpenOptions withAnnounced(@Nullable Announcement value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, headers, context, listener, value, cancelled,
        label, past);
  }

  public OpenOptions withCancelled(@Nullable Supplier<@Nullable String> value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, headers, context, listener, announced, value,
        label, past);
  }

  public OpenOptions withLabel(@Nullable String value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, headers, context, listener, announced,
        cancelled, value, past);
  }

  public OpenOptions withPast(@Nullable LayoutMemory value) {
    return new OpenOptions(
        policy, size, etag, versionId, split, splits, headers, context, listener, announced,
        cancelled, label, value);
  }
}
