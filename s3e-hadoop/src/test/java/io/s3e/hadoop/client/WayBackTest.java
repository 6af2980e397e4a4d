// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.testing.FaultyLog;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.RecordingHandler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The choice itself; FallbackClientTest has the states, and the environment tests real causes. */
class WayBackTest {
  private static final ClientMemory MEMORY = new ClientMemory(8 << 20, 1 << 20, 64 << 10);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private final AtomicInteger fallbacks = new AtomicInteger();
  private final Configuration conf = new Configuration(false);
  private final WayBack wayBack =
      new WayBack(
          "s3a://bucket",
          requests ->
              S3AStore.provider(
                  UserGroupInformation.createRemoteUser("owner"),
                  ChangeDetectionPolicy.getPolicy(conf),
                  requests),
          fallbacks::incrementAndGet);

  @Test
  void whatCannotBeMadeIsReplacedByS3AsClient() {
    try (ObjectClient client =
        wayBack.open(
            memory -> {
              throw new IllegalArgumentException("no certificate in the CA file");
            },
            MEMORY)) {
      assertThat(client.name()).isEqualTo("s3a");
      assertThat(client.limits().lends()).isFalse();
    }
    assertThat(fallbacks).hasValue(1);
  }

  @Test
  void whatDoesNotLinkIsReplacedByS3AsClient() {
    try (ObjectClient client =
        wayBack.open(
            memory -> {
              throw new NoSuchMethodError("withDirectBufferPoolOptions");
            },
            MEMORY)) {
      assertThat(client.name()).isEqualTo("s3a");
    }
    assertThat(fallbacks).hasValue(1);
  }

  @Test
  void aClientThatReachesTheStoreStays() throws Exception {
    MemoryObjectClient own =
        new MemoryObjectClient(new ClientLimits(1 << 20, 40, 0, 1 << 20, 40, 0));
    own.put(OBJECT, MemoryObjectClient.bytes(100_000, 1), "\"v\"");
    try (ObjectClient client = wayBack.open(memory -> own, MEMORY)) {
      assertThat(client.limits()).isEqualTo(own.limits());
      assertThat(get(client).awaitDone()).hasSize(1000);
      own.faults((request, number) -> Answer.GOOD.failingAfter(-1, Kind.NETWORK));
      for (int i = 0; i < 10; i++) {
        assertThat(get(client).awaitFailure().kind()).isEqualTo(Kind.NETWORK);
      }
      assertThat(client.name()).isEqualTo("memory");
    }
    assertThat(fallbacks).hasValue(0);
  }

  /** Who tells has the thread that the answers of others come by. */
  @Timeout(60)
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLogThatHangsOrThrowsHoldsNobodyUp(boolean hangs) {
    for (String line : List.of("by S3A's client", "by S3E's own client again")) {
      try (FaultyLog log = new FaultyLog(line, hangs)) {
        wayBack.onSubstituted(new RequestFailure(Kind.NO_ETAG, "s3://bucket/key", "no ETag", null));
        wayBack.onReturned();
        assertThat(log.awaitMet()).isTrue();
      }
    }
    assertThat(fallbacks).hasValue(2);
  }

  private static RecordingHandler get(ObjectClient client) {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(OBJECT, ByteRange.ofLength(0, 1000), null, null, false, Map.of(), null),
        handler);
    return handler;
  }
}
