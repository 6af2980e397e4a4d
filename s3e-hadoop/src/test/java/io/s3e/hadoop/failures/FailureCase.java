// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import io.s3e.testing.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table: what goes wrong with each GET.
 *
 * @param name for the report
 * @param place which file system meets it
 * @param fault what the server does; null where no request arrives
 * @param status HTTP status of the refusal; 0 if the store does not refuse
 * @param code S3's error code; null if the answer has none
 */
record FailureCase(
    String name, Place place, @Nullable Fault fault, int status, @Nullable String code) {
  static final String REQUEST_ID = "TX0001";
  static final String EXTENDED_ID = "host+id/0002=";
  static final String WORDS = "the scripted words of S3";
  static final String REGION = "eu-central-7";

  /** Where the file system is led to, and how long it waits. */
  enum Place {
    /** The hostile server. */
    SERVER,
    /** The hostile server, with the shortest time-outs. */
    HASTY,
    /** A port where nobody listens. */
    NOBODY,
    /** A host that no name server knows. */
    NOWHERE,
    /** The hostile server behind a certificate that nobody trusts; the CRT is slow to say so. */
    UNTRUSTED;

    Duration stallTimeout() {
      return switch (this) {
        case SERVER, NOBODY, NOWHERE -> Duration.ofSeconds(20);
        case HASTY -> Duration.ofSeconds(2);
        case UNTRUSTED -> Duration.ofSeconds(60);
      };
    }

    /**
     * The patience of a read; enough for some attempts, or to be a probe of a store that is away.
     */
    Duration readTimeout() {
      return switch (this) {
        case SERVER -> Duration.ofSeconds(2);
        case NOBODY, NOWHERE -> Duration.ofSeconds(10);
        case HASTY -> Duration.ofSeconds(5);
        case UNTRUSTED -> Duration.ofSeconds(120);
      };
    }
  }

  /** Whether a request for it is sent once: no other would have another answer. */
  boolean isFinal() {
    boolean mayPass =
        status == 301
            || status == 408
            || status == 409
            || status == 429
            || "RequestTimeout".equals(code);
    boolean isUnsaid = code == null && (status == 400 || status == 403);
    boolean hasRemedy =
        isUnsaid
            || "ExpiredToken".equals(code)
            || "InvalidAccessKeyId".equals(code)
            || "RequestTimeTooSkewed".equals(code);
    return status == 501 || (status >= 300 && status < 500 && !mayPass && !hasRemedy);
  }

  /** Whether the answer names a region; the CRT client goes there once for each bucket. */
  boolean isRegionNamed() {
    return status == 301 || status == 307 || "AuthorizationHeaderMalformed".equals(code);
  }

  /** A bucket of its own. */
  String bucket() {
    return name.replace(' ', '-').toLowerCase(Locale.ROOT);
  }

  String key() {
    return FailingReads.DIRECTORY + name.replace(' ', '-');
  }

  boolean isRefusal() {
    return status != 0;
  }

  @Override
  public String toString() {
    return name;
  }

  static List<FailureCase> all() {
    List<FailureCase> all = new ArrayList<>(refusals());
    all.add(broken("reset before the head", Fault.resetAtOnce()));
    all.add(broken("end before the head", Fault.endAtOnce()));
    all.add(broken("reset after the head", Fault.resetAfter(0)));
    all.add(broken("reset in the body", Fault.resetAfter(1_000)));
    all.add(broken("end after the head", Fault.endAfter(0)));
    all.add(broken("end in the body", Fault.endAfter(1_000)));
    all.add(new FailureCase("silence before the head", Place.HASTY, Fault.stallAtOnce(), 0, null));
    all.add(new FailureCase("silence in the body", Place.HASTY, Fault.stallAfter(1_000), 0, null));
    all.add(new FailureCase("refused", Place.NOBODY, null, 0, null));
    all.add(new FailureCase("unknown host", Place.NOWHERE, null, 0, null));
    all.add(new FailureCase("untrusted certificate", Place.UNTRUSTED, null, 0, null));
    return all;
  }

  private static List<FailureCase> refusals() {
    List<FailureCase> refusals = new ArrayList<>();
    for (int status : new int[] {301, 307}) {
      refusals.add(
          refused(
              status,
              status == 301 ? "PermanentRedirect" : "TemporaryRedirect",
              Map.of("x-amz-bucket-region", REGION)));
    }
    refusals.add(
        refused(400, "AuthorizationHeaderMalformed", Map.of("x-amz-bucket-region", REGION)));
    String[] codes = {
      "400 InvalidRequest",
      "400 ExpiredToken",
      "400 RequestTimeout",
      "400",
      "401 Unauthorized",
      "403 AccessDenied",
      "403 InvalidAccessKeyId",
      "403 SignatureDoesNotMatch",
      "403 RequestTimeTooSkewed",
      "403 InvalidObjectState",
      "403",
      "404 NoSuchKey",
      "404 NoSuchBucket",
      "404",
      "405 MethodNotAllowed",
      "408 RequestTimeout",
      "409 OperationAborted",
      "410 Gone",
      "412 PreconditionFailed",
      "416 InvalidRange",
      "429 TooManyRequests",
      "500 InternalError",
      "500",
      "501 NotImplemented",
      "502 BadGateway",
      "503 SlowDown",
      "503",
      "504 GatewayTimeout"
    };
    for (String line : codes) {
      String[] words = line.split(" ");
      refusals.add(
          refused(Integer.parseInt(words[0]), words.length == 1 ? null : words[1], Map.of()));
    }
    return refusals;
  }

  private static FailureCase refused(int status, @Nullable String code, Map<String, String> more) {
    Map<String, String> headers = new LinkedHashMap<>(more);
    headers.put("x-amz-request-id", REQUEST_ID);
    headers.put("x-amz-id-2", EXTENDED_ID);
    String document = code == null ? "" : Fault.document(code, WORDS, REQUEST_ID);
    return new FailureCase(
        status + (code == null ? " without a body" : " " + code),
        Place.SERVER,
        Fault.refusal(status, headers, document),
        status,
        code);
  }

  private static FailureCase broken(String name, Fault fault) {
    return new FailureCase(name, Place.SERVER, fault, 0, null);
  }
}
