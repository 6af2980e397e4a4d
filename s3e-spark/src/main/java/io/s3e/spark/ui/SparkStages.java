// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.spark.stages.StageAttempt;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.spark.status.StageDataWrapper;
import org.apache.spark.status.api.v1.StageData;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreIterator;

/** The stages of Spark's own store, which the other pages of the UI show. */
final class SparkStages {
  private final KVStore store;

  SparkStages(KVStore store) {
    this.store = store;
  }

  /** Empty if Spark does not know the stage any more. */
  Optional<StageFacts> find(StageAttempt stage) {
    try {
      int[] key = {stage.stageId(), stage.attempt()};
      return Optional.of(facts(store.read(StageDataWrapper.class, key).info()));
    } catch (NoSuchElementException forgotten) {
      return Optional.empty();
    } catch (Exception e) {
      throw new IllegalStateException("Spark's store of stages cannot be read: " + e, e);
    }
  }

  /** The stages that run now, the latest first. */
  List<StageAttempt> running() {
    List<StageAttempt> running = new ArrayList<>();
    try (KVStoreIterator<StageDataWrapper> active =
        store
            .view(StageDataWrapper.class)
            .index("active")
            .first(true)
            .last(true)
            .closeableIterator()) {
      while (active.hasNext()) {
        StageData stage = active.next().info();
        running.add(0, new StageAttempt(stage.stageId(), stage.attemptId()));
      }
    } catch (Exception e) {
      throw new IllegalStateException("Spark's store of stages cannot be read: " + e, e);
    }
    return running;
  }

  private static StageFacts facts(StageData stage) {
    return new StageFacts(
        stage.name(),
        stage.status().name().toLowerCase(Locale.ROOT),
        stage.numCompleteTasks(),
        stage.numTasks(),
        wallMillis(stage));
  }

  private static OptionalLong wallMillis(StageData stage) {
    if (stage.submissionTime().isEmpty() || stage.completionTime().isEmpty()) {
      return OptionalLong.empty();
    }
    Date end = stage.completionTime().get();
    return OptionalLong.of(end.getTime() - stage.submissionTime().get().getTime());
  }
}
