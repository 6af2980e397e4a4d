// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.S3EReadsModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;

/** A real application with a UI, on this machine alone, and the tab over a model of the test's. */
final class LiveSpark implements AutoCloseable {
  final S3EReadsModel model = new S3EReadsModel(100);
  final SparkContext context;
  final JavaSparkContext java;

  LiveSpark(SparkConf settings) {
    context = SparkContext.getOrCreate(settings);
    java = JavaSparkContext.fromSparkContext(context);
    S3ETab.attach(context.ui().get(), model, SparkKeys.prices(context.getConf()));
  }

  static SparkConf settings() {
    return new SparkConf(false)
        .setMaster("local[2]")
        .setAppName("Reads of S3E")
        .set("spark.ui.enabled", "true")
        .set("spark.ui.port", "0")
        .set("spark.ui.showConsoleProgress", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1");
  }

  static SparkConf logging(Path events) {
    return settings()
        .set("spark.eventLog.enabled", "true")
        .set("spark.eventLog.dir", events.toUri().toString());
  }

  URI ui() {
    return URI.create("http://127.0.0.1:" + URI.create(context.uiWebUrl().get()).getPort());
  }

  static Document get(URI page) throws IOException, InterruptedException {
    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    HttpRequest request = HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(60)).build();
    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as("%s", page).isEqualTo(200);
    Document document = Jsoup.parse(answer.body(), page.toString());
    assertThat(document.body().ownText()).as("text around the page").isEmpty();
    return document;
  }

  @Override
  public void close() {
    java.stop();
  }
}
