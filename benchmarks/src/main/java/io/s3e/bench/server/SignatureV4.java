// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks the {@code Authorization} header of AWS Signature Version 4 for one pair of keys. Any
 * thread.
 *
 * <p>It says yes only to a correctly signed header; presigned URLs, other schemes and the age of
 * the request are left to S3Proxy, to which the front relays all that this class does not accept.
 */
final class SignatureV4 {

  private static final String SCHEME = "AWS4-HMAC-SHA256";
  private static final String HMAC = "HmacSHA256";

  private final String accessKey;
  private final String secretKey;

  /** Signing keys by scope ({@code date/region/service}); one a day and region. */
  private final Map<String, byte[]> signingKeys = new ConcurrentHashMap<>();

  SignatureV4(String accessKey, String secretKey) {
    this.accessKey = accessKey;
    this.secretKey = secretKey;
  }

  /** Whether the request was signed with this secret. */
  boolean accepts(HttpHead request) {
    String authorization = request.header("Authorization");
    String date = request.header("x-amz-date");
    String payloadHash = request.header("x-amz-content-sha256");
    if (authorization == null
        || date == null
        || payloadHash == null
        || !authorization.startsWith(SCHEME + " ")) {
      return false;
    }
    Map<String, String> parts = parts(authorization.substring(SCHEME.length() + 1));
    String credential = parts.getOrDefault("Credential", "");
    String signedHeaders = parts.getOrDefault("SignedHeaders", "");
    String signature = parts.getOrDefault("Signature", "");
    String[] scope = credential.split("/", -1);
    if (scope.length != 5 || !scope[0].equals(accessKey) || !scope[4].equals("aws4_request")) {
      return false;
    }
    String canonicalHeaders = canonicalHeaders(request, signedHeaders);
    if (canonicalHeaders == null) {
      return false;
    }
    String canonicalRequest =
        String.join(
            "\n",
            request.method(),
            request.rawPath(),
            canonicalQuery(request.rawQuery()),
            canonicalHeaders,
            signedHeaders,
            payloadHash);
    String expected = sign(scope, date, canonicalRequest);
    return MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.US_ASCII),
        signature.getBytes(StandardCharsets.US_ASCII));
  }

  private static Map<String, String> parts(String parameters) {
    Map<String, String> parts = new HashMap<>();
    for (String part : parameters.split(",", -1)) {
      String[] pair = part.trim().split("=", 2);
      if (pair.length == 2) {
        parts.put(pair[0], pair[1]);
      }
    }
    return parts;
  }

  private static @Nullable String canonicalHeaders(HttpHead request, String signedHeaders) {
    StringBuilder canonical = new StringBuilder();
    for (String name : signedHeaders.split(";", -1)) {
      String value = request.header(name);
      if (value == null) {
        return null;
      }
      canonical
          .append(name.toLowerCase(Locale.ROOT))
          .append(':')
          .append(value.trim().replaceAll(" +", " "))
          .append('\n');
    }
    return canonical.toString();
  }

  private static String canonicalQuery(String rawQuery) {
    return Arrays.stream(rawQuery.split("&", -1))
        .filter(parameter -> !parameter.isEmpty())
        .map(parameter -> parameter.contains("=") ? parameter : parameter + "=")
        .sorted()
        .collect(Collectors.joining("&"));
  }

  private String sign(String[] scope, String date, String canonicalRequest) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      byte[] requestHash = sha256.digest(canonicalRequest.getBytes(StandardCharsets.ISO_8859_1));
      String scopeText = String.join("/", scope[1], scope[2], scope[3], scope[4]);
      String toSign =
          String.join("\n", SCHEME, date, scopeText, HexFormat.of().formatHex(requestHash));
      byte[] key = signingKeys.get(scopeText);
      if (key == null) {
        key = signingKey(scope);
        signingKeys.put(scopeText, key);
      }
      return HexFormat.of().formatHex(hmac(key, toSign));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JVM lacks SHA-256 or " + HMAC, e);
    }
  }

  private byte[] signingKey(String[] scope) throws GeneralSecurityException {
    byte[] key = ("AWS4" + secretKey).getBytes(StandardCharsets.UTF_8);
    for (int i = 1; i < scope.length; i++) {
      key = hmac(key, scope[i]);
    }
    return key;
  }

  private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance(HMAC);
    mac.init(new SecretKeySpec(key, HMAC));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }
}
