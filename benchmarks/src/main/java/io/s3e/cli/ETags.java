// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * ETags as S3 makes them, in quotes, where it encrypts with no key of KMS or of the user: MD5 of
 * the bytes; for parts, MD5 of theirs and the number of them. A store may make others.
 */
final class ETags {
  private static final Pattern MD5 = Pattern.compile("\"?([0-9a-fA-F]{32})\"?");

  private ETags() {}

  /** An ETag that is made when somebody asks. */
  @FunctionalInterface
  interface Source {
    /** Null if it cannot be told. */
    @Nullable String etag() throws IOException;
  }

  /** Of an object that came by one PUT. Reads and closes {@code body}. */
  static String ofWhole(InputStream body) throws IOException {
    MessageDigest digest = md5();
    try (InputStream in = new DigestInputStream(body, digest)) {
      var unused = in.transferTo(OutputStream.nullOutputStream());
    }
    return quoted(digest, "");
  }

  /** Of an object of these parts; null if one of their ETags is no MD5. */
  static @Nullable String ofParts(List<String> etags) {
    MessageDigest digest = md5();
    for (String etag : etags) {
      var parsed = MD5.matcher(etag);
      if (!parsed.matches()) {
        return null;
      }
      digest.update(HexFormat.of().parseHex(parsed.group(1)));
    }
    return quoted(digest, "-" + etags.size());
  }

  private static String quoted(MessageDigest digest, String end) {
    return '"' + HexFormat.of().formatHex(digest.digest()) + end + '"';
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a JVM without MD5", e);
    }
  }
}
