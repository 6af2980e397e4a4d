// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.ByteRange;
import io.s3e.columnar.SplitSource;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.Announcement;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
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
    @Nullable String label) {

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
    return with(copy -> copy.policy = value);
  }

  public OpenOptions withSize(long value) {
    return with(copy -> copy.size = value);
  }

  public OpenOptions withVersion(@Nullable String newEtag, @Nullable String newVersionId) {
    return with(
        copy -> {
          copy.etag = newEtag;
          copy.versionId = newVersionId;
        });
  }

  public OpenOptions withSplit(@Nullable ByteRange value) {
    return with(copy -> copy.split = value);
  }

  public OpenOptions withSplits(SplitSource value) {
    return with(copy -> copy.splits = value);
  }

  public OpenOptions withHeaders(Map<String, String> value) {
    return with(copy -> copy.headers = value);
  }

  public OpenOptions withContext(@Nullable Object value) {
    return with(copy -> copy.context = value);
  }

  public OpenOptions withListener(StreamListener value) {
    return with(copy -> copy.listener = value);
  }

  public OpenOptions withAnnounced(@Nullable Announcement value) {
    return with(copy -> copy.announced = value);
  }

  public OpenOptions withCancelled(@Nullable Supplier<@Nullable String> value) {
    return with(copy -> copy.cancelled = value);
  }

  public OpenOptions withLabel(@Nullable String value) {
    return with(copy -> copy.label = value);
  }

  private OpenOptions with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.options();
  }

  private static final class Copy {
    ReadPolicy policy;
    long size;
    @Nullable String etag;
    @Nullable String versionId;
    @Nullable ByteRange split;
    SplitSource splits;
    Map<String, String> headers;
    @Nullable Object context;
    StreamListener listener;
    @Nullable Announcement announced;
    @Nullable Supplier<@Nullable String> cancelled;
    @Nullable String label;

    Copy(OpenOptions from) {
      policy = from.policy;
      size = from.size;
      etag = from.etag;
      versionId = from.versionId;
      split = from.split;
      splits = from.splits;
      headers = from.headers;
      context = from.context;
      listener = from.listener;
      announced = from.announced;
      cancelled = from.cancelled;
      label = from.label;
    }

    OpenOptions options() {
      return new OpenOptions(
          policy, size, etag, versionId, split, splits, headers, context, listener, announced,
          cancelled, label);
    }
  }
}
