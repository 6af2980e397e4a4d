// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.block.ByteRange;
import io.s3e.prefetch.ReadPolicy;
import java.util.Collection;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AInputPolicy;
import org.jspecify.annotations.Nullable;

/**
 * The hints of {@code openFile()} about the reads to come, of which S3A's read context keeps only
 * the coarse policy. Hints never change bytes.
 *
 * @param policy the first read policy named that S3E knows; null if none was
 * @param split its bytes; null if its end is unknown
 */
public record OpenHints(@Nullable ReadPolicy policy, @Nullable ByteRange split) {
  public static final OpenHints NONE = new OpenHints(null, null);

  /** Hints from the options; those that make no sense are left out, as S3A does. */
  public static OpenHints of(OpenFileParameters parameters) {
    Configuration options = parameters.getOptions();
    Collection<String> names =
        options.getTrimmedStringCollection(OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY);
    if (names.isEmpty()) {
      names = options.getTrimmedStringCollection(Constants.INPUT_FADVISE);
    }
    return new OpenHints(firstKnown(names), split(options));
  }

  /** The split that the options tell; null if its end is unknown, or one of them is no number. */
  public static @Nullable ByteRange split(Configuration options) {
    try {
      long start = Math.max(0, options.getLong(OpenFileOptions.FS_OPTION_OPENFILE_SPLIT_START, 0));
      long end = options.getLong(OpenFileOptions.FS_OPTION_OPENFILE_SPLIT_END, -1);
      return end < start ? null : new ByteRange(start, end);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** With that split where {@code openFile()} told none. */
  public OpenHints orSplit(@Nullable ByteRange known) {
    return split == null && known != null ? new OpenHints(policy, known) : this;
  }

  /** The policy for S3A's coarse one, which is all that the stream SPI passes on. */
  public static ReadPolicy of(S3AInputPolicy policy) {
    return switch (policy) {
      case Sequential -> ReadPolicy.SEQUENTIAL;
      case Random -> ReadPolicy.RANDOM;
      case Normal -> ReadPolicy.ADAPTIVE;
    };
  }

  /** The policy of the first of Hadoop's and S3A's names that S3E knows; null if it knows none. */
  public static @Nullable ReadPolicy firstKnown(Collection<String> names) {
    for (String name : names) {
      ReadPolicy policy = policyNamed(name.toLowerCase(Locale.ROOT));
      if (policy != null) {
        return policy;
      }
    }
    return null;
  }

  /** Hadoop's names of read policies (org.apache.hadoop.fs.Options.OpenFileOptions), and S3A's. */
  private static @Nullable ReadPolicy policyNamed(String name) {
    return switch (name) {
      case "adaptive", "default", "normal" -> ReadPolicy.ADAPTIVE;
      case "sequential", "avro", "csv", "json" -> ReadPolicy.SEQUENTIAL;
      case "whole-file" -> ReadPolicy.WHOLE_FILE;
      case "random", "vector", "parquet", "orc", "columnar", "hbase" -> ReadPolicy.RANDOM;
      default -> null;
    };
  }
}
