// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.testserver.S3TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/** A Spark in this JVM with the plugin, over the S3 server of the tests, with an event log. */
final class LocalSpark {
  static final String BUCKET = "spark-test";

  private static final ObjectMapper JSON = new ObjectMapper();

  private final S3TestServer server;
  private final Path directory;

  LocalSpark(S3TestServer server, Path directory) {
    this.server = server;
    this.directory = directory;
  }

  /** As a user would set it, by the plugin's one key. */
  SparkSession.Builder builder() {
    return plain().config("spark.plugins", "io.s3e.spark.S3EPlugin");
  }

  /** S3A over the server; nothing of S3E. */
  SparkSession.Builder plain() {
    return SparkSession.builder()
        .master("local[2]")
        .appName("s3e")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", directory.toString())
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", directory.resolve("warehouse").toUri().toString())
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.eventLog.dir", events().toUri().toString())
        .config("spark.hadoop.fs.s3a.endpoint", server.endpoint().toString())
        .config("spark.hadoop.fs.s3a.endpoint.region", "us-east-1")
        .config("spark.hadoop.fs.s3a.access.key", S3TestServer.ACCESS_KEY)
        .config("spark.hadoop.fs.s3a.secret.key", S3TestServer.SECRET_KEY)
        .config("spark.hadoop.fs.s3a.path.style.access", "true")
        .config("spark.hadoop.fs.s3a.connection.ssl.enabled", "false");
  }

  private Path events() {
    Path events = directory.resolve("events");
    try {
      return Files.createDirectories(events);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static String path(String key) {
    return "s3a://" + BUCKET + "/" + key;
  }

  /** The events of one kind in the log of the application that has ended, in their order. */
  List<JsonNode> logged(String event) throws IOException {
    List<JsonNode> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(events())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (file.getFileName().toString().startsWith(".")) {
          continue;
        }
        for (String line : Files.readAllLines(file)) {
          JsonNode node = JSON.readTree(line);
          if (node.path("Event").asText().equals(event)) {
            found.add(node);
          }
        }
      }
    }
    return found;
  }
}
