// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.testserver.S3TestServer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Tests by a {@link LocalSpark}: each has an empty directory, and leaves no session behind. */
abstract class SparkOnServer {
  static S3TestServer server;

  @TempDir Path directory;

  @BeforeAll
  static void startServer() throws Exception {
    server = S3TestServer.inMemory().withBucket(LocalSpark.BUCKET);
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @AfterEach
  void endSession() throws Exception {
    SparkSession.getActiveSession().foreach(SparkOnServer::stop);
    SparkSession.clearActiveSession();
    FileSystem.closeAll();
  }

  private static Object stop(SparkSession session) {
    session.stop();
    return null;
  }

  /** The events of stages that the plugin posts from now on. */
  static List<SparkListenerS3EStage> stagesOf(SparkSession session) {
    List<SparkListenerS3EStage> posted = new CopyOnWriteArrayList<>();
    session
        .sparkContext()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onOtherEvent(SparkListenerEvent event) {
                if (event instanceof SparkListenerS3EStage stage) {
                  posted.add(stage);
                }
              }
            });
    return posted;
  }
}
