// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.hadoop.cost.Bill;
import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.history.FsHistoryProvider;
import org.apache.spark.deploy.history.HistoryServer;
import org.apache.spark.deploy.history.HistoryServer$;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.status.KVUtils;
import org.apache.spark.util.JsonProtocol;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tab of applications that have ended, from their event logs. */
class S3EHistoryPluginTest {
  private static final String PRICE_OF_GETS = "0.5";
  private static final String PRICE_OF_VCPU = "0.25";

  /** As a version without bills wrote one, and with a field of a later one. */
  private static final String EVENT =
      """
      {"Event":"io.s3e.spark.stages.SparkListenerS3EStage","format":1,"stageId":3,\
      "stageAttemptId":0,"executors":[{"executorId":"1","host":"h",\
      "counts":{"tasks":2,"taskNanos":9,"gets":5,"fieldOfTomorrow":1}}]}
      """;

  @Test
  @Slow
  void theHistoryServerShowsWhatTheEventsSay(@TempDir Path events) throws Exception {
    String read = run(events, SampleReads.events(0, 2));
    String plain = run(events, List.of());
    HistoryServer server = serve(events, List.of(read, plain));
    try {
      URI root = URI.create("http://127.0.0.1:" + server.boundPort() + "/history/");
      Document page = LiveSpark.get(root.resolve(read + "/s3e/"));
      assertThat(page.select("#s3e-stages tbody tr")).hasSize(2);
      assertThat(page.select("#s3e-executors tbody tr")).hasSize(2);
      assertThat(page.expectFirst("#s3e-stages tbody").text())
          .contains("count at S3EHistoryPluginTest.java");
      assertThat(page.expectFirst("#s3e-bill").text())
          .contains("$" + PRICE_OF_GETS + " per 1,000", "$" + PRICE_OF_VCPU + " an hour");
      URI stage = URI.create(page.expectFirst("#s3e-stages tbody a").absUrl("href"));
      assertThat(stage.getPath()).isEqualTo("/history/" + read + "/stages/stage/");
      assertThat(LiveSpark.get(stage).text()).contains("Details for Stage 1 (Attempt 0)");

      Document other = LiveSpark.get(root.resolve(plain + "/jobs/"));
      assertThat(other.select("a:matchesOwn(^S3E$)")).isEmpty();
      assertThat(LiveSpark.get(root.resolve(read + "/jobs/")).select("a:matchesOwn(^S3E$)"))
          .hasSize(1);
    } finally {
      server.stop();
    }
  }

  /** The server goes on as without S3E: it passes over the events, whose class it cannot load. */
  @Test
  @Slow
  void onAJavaThatIsTooOldThereIsNoTab() {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    S3EHistoryPlugin plugin = new S3EHistoryPlugin("S3E needs Java 17; this is Java 11");
    try {
      assertThat(plugin.createListeners(new SparkConf(false), null).isEmpty()).isTrue();
      ClassLoader once = thread.getContextClassLoader();
      assertThat(plugin.createListeners(new SparkConf(false), null).isEmpty()).isTrue();
      assertThat(thread.getContextClassLoader()).isSameAs(once);
      plugin.setupUI(null);
      assertThatThrownBy(() -> JsonProtocol.sparkEventFromJson(EVENT))
          .isInstanceOf(ClassNotFoundException.class);
    } finally {
      thread.setContextClassLoader(before);
    }
    SparkConf conf = new SparkConf(false);
    ElementTrackingStore store = new ElementTrackingStore(new InMemoryStore(), conf);
    assertThat(new S3EHistoryPlugin().createListeners(conf, store).isEmpty()).isFalse();
    assertThat(JsonProtocol.sparkEventFromJson(EVENT)).isInstanceOf(SparkListenerS3EStage.class);
  }

  /** As the History Server writes its store to disk and finds it there after a restart. */
  @Test
  void anEventComesBackFromTheStoreAsItWas() throws Exception {
    KVUtils.KVStoreScalaSerializer store = new KVUtils.KVStoreScalaSerializer();
    SparkListenerS3EStage event = SampleReads.events(4, 1).get(0);
    byte[] written = store.serialize(new StoredStage(7, event));
    StoredStage found = store.deserialize(written, StoredStage.class);
    assertThat(found.number).isEqualTo(7);
    assertThat(found.event).isEqualTo(event);
  }

  /** Logs are read by other versions than wrote them. */
  @Test
  void anEventOfAVersionWithoutBillsCountsAsFarAsItGoes() {
    SparkListenerS3EStage event = (SparkListenerS3EStage) JsonProtocol.sparkEventFromJson(EVENT);
    assertThat(event.bill()).isEqualTo(Bill.NONE);
    assertThat(event.reads().total().gets()).isEqualTo(5);
    assertThat(event.reads().total().heads()).isZero();
    assertThat(event.reads().total().bill(Prices.LIST).requestsUsd()).isPositive();
  }

  /** An application of two stages whose log has the events; its id. */
  private static String run(Path log, List<SparkListenerS3EStage> events) {
    try (LiveSpark spark =
        new LiveSpark(
            LiveSpark.logging(log)
                .set(SparkKeys.PRICE_OF_GETS.name(), PRICE_OF_GETS)
                .set(SparkKeys.PRICE_OF_VCPU.name(), PRICE_OF_VCPU))) {
      spark.java.parallelize(List.of(1, 2), 2).count();
      spark.java.parallelize(List.of(1, 2), 2).count();
      events.forEach(event -> spark.context.listenerBus().post(event));
      return spark.context.applicationId();
    }
  }

  private static HistoryServer serve(Path events, List<String> applications) throws Exception {
    assertThat(Files.isDirectory(events)).isTrue();
    SparkConf conf =
        new SparkConf(false)
            .set("spark.history.fs.logDirectory", events.toUri().toString())
            .set("spark.history.fs.update.interval", "1s")
            .set("spark.history.ui.port", "0");
    FsHistoryProvider provider = new FsHistoryProvider(conf);
    provider.checkForLogs();
    // The logs are listed by threads of the provider.
    for (String application : applications) {
      awaitTrue(() -> provider.getApplicationInfo(application).isDefined());
    }
    HistoryServer server =
        new HistoryServer(conf, provider, HistoryServer$.MODULE$.createSecurityManager(conf), 0);
    server.bind();
    return server;
  }
}
