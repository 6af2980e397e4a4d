// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.block.ObjectRef;
import java.net.URLConnection;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How to upload. */
final class UploadOptions extends TransferOptions {
  private static final long MIN_PART = 5L << 20;
  private static final long MAX_PART = 1L << 30;
  private static final Pattern PRINTABLE = Pattern.compile("[ -~]*");
  private static final long MEBIBYTE = 1L << 20;

  @Option(names = "--force", description = "Replace an object that exists.")
  private boolean force;

  @Option(
      names = "--part-size",
      paramLabel = "SIZE",
      converter = ByteSize.Converter.class,
      description =
          "5m to 1g; default 8m, or what makes 10,000 parts of a file. Standard input takes"
              + " memory for N + 2 parts.")
  private @Nullable Long partSize;

  @Option(
      names = "--checksum",
      paramLabel = "KIND",
      description =
          "auto, none, crc32, crc32c, sha1 or sha256. Default auto: the SDK's for AWS, none for"
              + " an --endpoint.")
  private Checksum checksum = Checksum.AUTO;

  @Option(
      names = "--content-type",
      paramLabel = "TYPE",
      description = "Default: by the ending of the key.")
  private @Nullable String contentType;

  @Option(
      names = "--metadata",
      paramLabel = "NAME=VALUE",
      description = "The user's metadata. Repeatable.")
  private Map<String, String> metadata = Map.of();

  @Option(names = "--storage-class", paramLabel = "CLASS", description = "For example GLACIER_IR.")
  private @Nullable String storageClass;

  boolean force() {
    return force;
  }

  Checksum checksum() {
    return checksum;
  }

  /**
   * @throws IllegalArgumentException where it is not of printable ASCII: the signature of other
   *     letters is not that of what is sent
   */
  Map<String, String> metadata() {
    metadata.forEach(
        (name, value) -> {
          if (!PRINTABLE.matcher(name + value).matches()) {
            throw new IllegalArgumentException(
                "--metadata is " + name + "=" + value + "; accepted is printable ASCII");
          }
        });
    return metadata;
  }

  @Nullable String storageClass() {
    return storageClass;
  }

  /**
   * How the source is cut, in bytes.
   *
   * @param size of the source; -1 if unknown
   */
  int partBytes(long size) {
    long given = partSize == null ? 8 * MEBIBYTE : partSize;
    if (given < MIN_PART || given > MAX_PART) {
      throw new IllegalArgumentException("--part-size is " + given + "; accepted is 5m to 1g");
    }
    long least = (Math.max(0, size) + PartSource.MAX_PARTS - 1) / PartSource.MAX_PARTS;
    if (least > MAX_PART) {
      throw new IllegalArgumentException(
          "The source has " + size + " bytes; an upload has at most 10,000 parts of 1g");
    }
    return (int) Math.max(given, (least + MEBIBYTE - 1) / MEBIBYTE * MEBIBYTE);
  }

  /** A type by the ending of the key, unless one was given. */
  String contentType(ObjectRef object) {
    if (contentType != null) {
      return contentType;
    }
    String guess = URLConnection.guessContentTypeFromName(object.key());
    return guess == null ? "application/octet-stream" : guess;
  }
}
