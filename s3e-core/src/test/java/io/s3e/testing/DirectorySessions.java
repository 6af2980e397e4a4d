// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Directory buckets, as S3 Express One Zone has them, for {@link HostileS3Server#decideAll}:
 * CreateSession gives a session for a time, and every other request is refused that is not signed
 * by one that holds. Signatures themselves are not checked. Any thread.
 */
public final class DirectorySessions implements Function<HostileS3Server.Request, Fault> {
  /** The headers that a signature covers. */
  private static final Pattern SIGNED = Pattern.compile("SignedHeaders=([^,]*),");

  private final Duration life;
  private volatile boolean isRefusing;
  private final AtomicInteger made = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  /** The end of each session that holds, by the number in its key and token. */
  private final Map<Integer, Instant> ends = new ConcurrentHashMap<>();

  public DirectorySessions(Duration life) {
    this.life = life;
  }

  /** How many sessions were made. */
  public int made() {
    return made.get();
  }

  /** How many requests were refused for want of one. */
  public int refused() {
    return refused.get();
  }

  /** Makes no session any more. */
  public void refuse() {
    isRefusing = true;
  }

  /** Ends all sessions before their time. */
  public void revoke() {
    ends.clear();
  }

  @Override
  public Fault apply(HostileS3Server.Request request) {
    if (request.target().matches("[^?]*\\?session(=.*)?")) {
      return isRefusing ? Fault.status(403, "AccessDenied") : created();
    }
    String token = String.valueOf(request.header("x-amz-s3session-token"));
    String signature = String.valueOf(request.header("Authorization"));
    boolean holds =
        token.matches("session-\\d+")
            && Instant.now()
                .isBefore(ends.getOrDefault(Integer.valueOf(token.substring(8)), Instant.MIN))
            && signature.contains("Credential=key-" + token + "/")
            && signature.contains("/s3express/aws4_request")
            && covers(signature, "x-amz-s3session-token")
            && covers(signature, "host")
            && request.header("x-amz-security-token") == null;
    if (holds) {
      return Fault.none();
    }
    refused.incrementAndGet();
    return Fault.status(403, "InvalidAccessKeyId");
  }

  private static boolean covers(String signature, String header) {
    Matcher signed = SIGNED.matcher(signature);
    return signed.find() && List.of(signed.group(1).split(";")).contains(header);
  }

  private Fault created() {
    int number = made.incrementAndGet();
    Instant end = Instant.now().plus(life);
    ends.put(number, end);
    String document =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CreateSessionResult><Credentials>"
            + "<SessionToken>session-%d</SessionToken><SecretAccessKey>secret</SecretAccessKey>"
                .formatted(number)
            + "<AccessKeyId>key-session-%d</AccessKeyId><Expiration>%s</Expiration>"
                .formatted(number, end)
            + "</Credentials></CreateSessionResult>";
    return Fault.refusal(200, Map.of("Content-Type", "application/xml"), document);
  }
}
