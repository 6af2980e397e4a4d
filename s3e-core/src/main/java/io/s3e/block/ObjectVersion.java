// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The identity that blocks in memory are kept under: one immutable content of one object. Two
 * streams share blocks if and only if their versions are equal.
 *
 * <p>Without an ETag the content is not known yet, so such a version equals only itself: each
 * {@link #unidentified} call gives a new identity. The same content may also be held for one holder
 * alone ({@link #heldFor}), who has no share in what others hold of it.
 */
public final class ObjectVersion {
  private final ObjectRef object;
  private final long size;
  private final @Nullable String etag;
  private final @Nullable String versionId;
  private final @Nullable Object holder;
  private final int hash;

  private ObjectVersion(
      ObjectRef object,
      long size,
      @Nullable String etag,
      @Nullable String versionId,
      @Nullable Object holder) {
    if (size < 0) {
      throw new IllegalArgumentException("size " + size + " of " + object + " is negative");
    }
    this.object = Objects.requireNonNull(object, "object");
    this.size = size;
    this.etag = etag;
    this.versionId = versionId;
    this.holder = holder;
    this.hash = Objects.hash(object, size, etag, versionId, holder);
  }

  /** A version known by its ETag, and by its version id where the bucket is versioned. */
  public static ObjectVersion identified(
      ObjectRef object, long size, String etag, @Nullable String versionId) {
    return new ObjectVersion(object, size, Objects.requireNonNull(etag), versionId, null);
  }

  /** A version whose ETag nobody has told; shared with nobody. */
  public static ObjectVersion unidentified(
      ObjectRef object, long size, @Nullable String versionId) {
    return new ObjectVersion(object, size, null, versionId, new Object());
  }

  /**
   * The same version, held for {@code holder} alone: for nobody but who is equal to it. One that is
   * not {@linkplain #isIdentified identified} equals nothing else, whoever holds it.
   */
  public ObjectVersion heldFor(Object holder) {
    return new ObjectVersion(object, size, etag, versionId, isIdentified() ? holder : new Object());
  }

  /** Whether the ETag tells the content: one that is blank or of zeros (old MinIO's) does not. */
  public boolean isIdentified() {
    String told = etag == null ? "" : etag.replace("\"", "").replace("0", "").strip();
    // What follows a dash is the number of parts.
    return !told.isEmpty() && !told.startsWith("-");
  }

  public ObjectRef object() {
    return object;
  }

  public long size() {
    return size;
  }

  /** ETag as S3 gave it, quotes included; null if not known. */
  public @Nullable String etag() {
    return etag;
  }

  /** Version id; null if not known or not versioned. */
  public @Nullable String versionId() {
    return versionId;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ObjectVersion that
        && hash == that.hash
        && Objects.equals(holder, that.holder)
        && size == that.size
        && object.equals(that.object)
        && Objects.equals(etag, that.etag)
        && Objects.equals(versionId, that.versionId);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    String version = versionId == null ? "" : ", version " + versionId;
    String content = etag == null ? "unknown" : etag;
    return object + " (" + size + " bytes, ETag " + content + version + ")";
  }
}
