// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.block.ObjectRef;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.core.SdkGlobalTime;
import software.amazon.awssdk.core.exception.SdkClientException;

/** Reads go on while credentials change, while nobody gives any, and with a clock that is off. */
@Timeout(120)
@Slow
class SignedReadsTest {
  private static final byte[] CONTENT =
      MemoryObjectClient.bytes(5 * EngineOverServer.BLOCK + 4321, 7);

  private final AtomicInteger objects = new AtomicInteger();

  /** Reads that have ended, by the reader's kind. */
  private final AtomicIntegerArray reads = new AtomicIntegerArray(ReaderKind.values().length);

  private volatile Supplier<AwsCredentials> provider = () -> key("first");

  @AfterEach
  void forgetTheTime() {
    // The SDK keeps what it has learnt for the whole JVM.
    SdkGlobalTime.setGlobalTimeOffset(0);
  }

  @ParameterizedTest
  @EnumSource(EveryClient.class)
  void aRotationFailsNoRead(EveryClient client) throws Exception {
    try (EngineOverServer s3e = open(client)) {
      AtomicBoolean rotates = new AtomicBoolean(true);
      s3e.run(
          1 + ReaderKind.values().length,
          reader -> {
            if (reader == 0) {
              rotate(s3e);
              rotates.set(false);
            } else {
              readWhile(rotates::get, s3e, ReaderKind.values()[reader - 1]);
            }
          });
    }
  }

  private void rotate(EngineOverServer s3e) throws InterruptedException {
    int number = 0;
    for (String code :
        List.of(
            "ExpiredToken",
            "ExpiredTokenException",
            "InvalidAccessKeyId",
            "InvalidToken",
            "TokenRefreshRequired")) {
      for (ReaderKind kind : ReaderKind.values()) {
        // Every reader has been through the last one: no request meets two.
        int before = reads.get(kind.ordinal());
        awaitTrue("a read", () -> reads.get(kind.ordinal()) >= before + 4);
      }
      String next = "key-" + number++;
      provider = () -> key(next);
      refuseAllBut(s3e, next, code);
    }
  }

  @Test
  void aProviderThatIsDownAroundAnExpiryFailsNoRead() throws Exception {
    EveryClient.atOnce(client -> new SignedReadsTest().readAroundAnExpiry(client));
  }

  private void readAroundAnExpiry(EveryClient client) throws Exception {
    Instant start = Instant.now();
    Instant expiry = start.plusSeconds(2);
    provider =
        () -> {
          Duration since = Duration.between(start, Instant.now());
          if (since.toMillis() > 1_000 && since.toMillis() < 5_000) {
            throw SdkClientException.create("the metadata service is down");
          }
          return since.toMillis() > 1_000
              ? key("second")
              : AwsSessionCredentials.builder()
                  .accessKeyId("first")
                  .secretAccessKey("secret")
                  .sessionToken("token")
                  .expirationTime(expiry)
                  .build();
        };
    try (EngineOverServer s3e = open(client)) {
      s3e.server.decideAll(
          request ->
              Instant.now().isBefore(expiry) || isSignedWith("second", request)
                  ? Fault.none()
                  : Fault.status(400, "ExpiredToken"));
      s3e.run(
          ReaderKind.values().length,
          reader -> readFor(Duration.ofSeconds(7), s3e, ReaderKind.values()[reader]));
      assertThat(isSignedWith("second", last(s3e))).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aClockThatIsOffFailsNoRead(EveryClient client) throws Exception {
    for (Duration offset : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
      try (EngineOverServer s3e = open(client)) {
        s3e.server.clock(offset);
        s3e.run(
            ReaderKind.values().length,
            reader -> readFor(Duration.ofMillis(200), s3e, ReaderKind.values()[reader]));
        // A clock that is set while reads go on.
        s3e.server.clock(Duration.ZERO);
        s3e.run(
            ReaderKind.values().length,
            reader -> readFor(Duration.ofMillis(200), s3e, ReaderKind.values()[reader]));
      }
      SdkGlobalTime.setGlobalTimeOffset(0);
    }
  }

  private EngineOverServer open(EveryClient client) throws IOException {
    return new EngineOverServer(client, Duration.ofSeconds(30), () -> provider.get());
  }

  private void readFor(Duration time, EngineOverServer s3e, ReaderKind kind) throws Exception {
    long end = System.nanoTime() + time.toNanos();
    readWhile(() -> System.nanoTime() < end, s3e, kind);
  }

  /** Opens by a HEAD, whose refusal has no code, and without. */
  private void readWhile(BooleanSupplier condition, EngineOverServer s3e, ReaderKind kind)
      throws Exception {
    while (condition.getAsBoolean()) {
      readOnce(s3e, kind, OpenOptions.DEFAULTS);
      readOnce(s3e, kind, known());
    }
  }

  private OpenOptions known() {
    return OpenOptions.DEFAULTS.withSize(CONTENT.length);
  }

  private void readOnce(EngineOverServer s3e, ReaderKind kind, OpenOptions options)
      throws Exception {
    int number = objects.incrementAndGet();
    ObjectRef object = new ObjectRef("bucket", "object-" + number);
    s3e.server.put(object, CONTENT);
    try (S3EInputStream in = s3e.engine.open(object, options)) {
      kind.read(in, CONTENT, new Random(number));
    }
    reads.incrementAndGet(kind.ordinal());
  }

  private static void refuseAllBut(EngineOverServer s3e, String key, String code) {
    int status = code.equals("InvalidAccessKeyId") ? 403 : 400;
    s3e.server.decideAll(
        request -> isSignedWith(key, request) ? Fault.none() : Fault.status(status, code));
  }

  private static boolean isSignedWith(String key, HostileS3Server.Request request) {
    String signature = request.header("Authorization");
    return signature != null && signature.contains("Credential=" + key + "/");
  }

  private static HostileS3Server.Request last(EngineOverServer s3e) {
    List<HostileS3Server.Request> all = s3e.server.requests();
    return all.get(all.size() - 1);
  }

  private static AwsCredentials key(String name) {
    return AwsSessionCredentials.create(name, "secret", "token");
  }

  /** That an object may not be read says nothing against the key. */
  @Test
  void deniedObjectsAskTheProviderForNothing() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    provider =
        () -> {
          asked.incrementAndGet();
          return key("first");
        };
    try (EngineOverServer s3e = open(EveryClient.CRT_BORROWED)) {
      s3e.server.decideAll(request -> Fault.status(403, "AccessDenied"));
      for (int i = 0; i < 20; i++) {
        ObjectRef object = new ObjectRef("bucket", "denied-" + i);
        try (S3EInputStream in = s3e.engine.open(object, OpenOptions.DEFAULTS.withSize(100))) {
          assertThatThrownBy(in::read).hasMessageContaining("AccessDenied");
        }
      }
    }
    assertThat(asked).hasValue(1);
  }
}
