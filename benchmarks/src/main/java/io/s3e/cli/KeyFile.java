package io.s3e.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.s3e.disk.CacheKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** A file with a secret in it; nothing of the secret is ever shown. */
final class KeyFile {
  private static final Pattern HEXADECIMAL = Pattern.compile("[0-9a-fA-F]{64}");
  private static final Pattern BASE64 = Pattern.compile("[0-9a-zA-Z+/]{43}=");

  private KeyFile() {}

  /**
   * The key of a cache.
   *
   * @throws IllegalArgumentException if there is none in the file
   */
  static CacheKey read(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    if (bytes.length == CacheKey.BYTES) {
      return CacheKey.of(bytes);
    }
    String text = new String(bytes, US_ASCII).strip();
    if (HEXADECIMAL.matcher(text).matches()) {
      return CacheKey.of(HexFormat.of().parseHex(text));
    }
    if (BASE64.matcher(text).matches()) {
      return CacheKey.of(Base64.getDecoder().decode(text));
    }
    throw new IllegalArgumentException(
        file
            + " holds no key: expected "
            + CacheKey.BYTES
            + " bytes, as they are, in Base64 or hex");
  }
}
