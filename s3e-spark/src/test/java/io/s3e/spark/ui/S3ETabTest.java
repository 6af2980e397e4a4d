// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.spark.stages.StageAttempt;
import io.s3e.testing.Slow;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.api.java.JavaFutureAction;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.junit.jupiter.api.Test;

/** The tab in the UI of a running application, asked by HTTP. */
@Slow
class S3ETabTest {
  /** Of the only test in this JVM that has a stage waiting. */
  private static final CountDownLatch LET_GO = new CountDownLatch(1);

  @Test
  void isATabOfTheUiAmongSparksOwn() throws Exception {
    try (LiveSpark spark = new LiveSpark(LiveSpark.settings())) {
      Document jobs = LiveSpark.get(spark.ui().resolve("/jobs/"));
      URI tab = URI.create(jobs.expectFirst("a:matchesOwn(^S3E$)").absUrl("href"));
      Document empty = LiveSpark.get(tab);
      assertThat(empty.title()).isEqualTo("Reads of S3E - S3E");
      assertThat(empty.expectFirst("li.active").text()).isEqualTo("S3E");
      assertThat(empty.select("#s3e-empty")).hasSize(1);

      spark.java.parallelize(List.of(1, 2, 3), 3).count();
      spark.model.add(SampleReads.event(new StageAttempt(0, 0), 3));
      Document page = LiveSpark.get(tab);
      assertThat(page.select("#s3e-empty")).isEmpty();
      Element stage = page.expectFirst("#s3e-stages tbody tr");
      assertThat(stage.text()).contains("count at S3ETabTest.java", "complete");
      Document details = LiveSpark.get(URI.create(stage.expectFirst("a").absUrl("href")));
      assertThat(details.text()).contains("Details for Stage 0 (Attempt 0)");
      URI executors = URI.create(page.expectFirst("#s3e-executors tbody a").absUrl("href"));
      assertThat(LiveSpark.get(executors).title()).endsWith("Executors");
    }
  }

  @Test
  void showsStagesThatRun() throws Exception {
    try (LiveSpark spark = new LiveSpark(LiveSpark.settings())) {
      JavaFutureAction<Void> job =
          spark.java.parallelize(List.of(1, 2, 3, 4), 4).foreachAsync(S3ETabTest::await);
      Document page = untilARowIsThere(spark.ui().resolve("/s3e/"));
      assertThat(page.expectFirst("#s3e-stages tbody tr").text()).contains("active 0/4");
      LET_GO.countDown();
      job.get(60, TimeUnit.SECONDS);
    } finally {
      LET_GO.countDown();
    }
  }

  private static void await(Integer any) throws InterruptedException {
    if (!LET_GO.await(120, TimeUnit.SECONDS)) {
      throw new IllegalStateException("The test has not let go");
    }
  }

  private static Document untilARowIsThere(URI page) throws Exception {
    AtomicReference<Document> now = new AtomicReference<>();
    awaitTrue(
        "a row in the table of stages",
        Duration.ofSeconds(60),
        () -> {
          now.set(LiveSpark.get(page));
          return !now.get().select("#s3e-stages tbody tr").isEmpty();
        });
    return now.get();
  }
}
