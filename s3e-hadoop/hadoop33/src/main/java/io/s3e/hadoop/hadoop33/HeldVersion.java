// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import java.lang.reflect.Field;
import org.apache.hadoop.fs.s3a.S3AInputStream;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.impl.ChangeTracker;
import org.jspecify.annotations.Nullable;

/**
 * The version that S3A's stream holds on to, which S3A's own HEAD has told it where it sent one. By
 * reflection: the stream keeps it to itself, and another HEAD might find another version.
 * Stateless.
 */
final class HeldVersion {
  private static final @Nullable Field TRACKER = tracker();

  private HeldVersion() {}

  private static @Nullable Field tracker() {
    try {
      Field field = S3AInputStream.class.getDeclaredField("changeTracker");
      field.setAccessible(true);
      return ChangeTracker.class.isAssignableFrom(field.getType()) ? field : null;
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  /** Whether this S3A's streams have it where those of 3.3.4 to 3.3.6 do. */
  static boolean isTold() {
    return TRACKER != null;
  }

  /** Without its quotes, as S3A has it; null if the stream knows of none yet. */
  static @Nullable String etag(S3AInputStream stream) {
    try {
      return TRACKER != null
              && TRACKER.get(stream) instanceof ChangeTracker tracker
              && tracker.getSource() == ChangeDetectionPolicy.Source.ETag
          ? tracker.getRevisionId()
          : null;
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
