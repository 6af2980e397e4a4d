// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.conf.AdapterConfig;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class MemoryChecksTest {
  private final SparkConf spark = new SparkConf(false);
  private final Configuration hadoop = new Configuration(false);

  private List<String> findings() {
    return new MemoryChecks(spark, AdapterConfig.read(hadoop, null)).findings();
  }

  @Test
  void theDefaultsFitTheDefaultsOfSpark() {
    spark.set("spark.master", "yarn");
    assertThat(findings()).isEmpty();
    spark.set("spark.executor.memory", "8g").set("spark.executor.cores", "4");
    assertThat(findings()).isEmpty();
    spark.set("spark.executor.memory", "64g").set("spark.executor.cores", "16");
    assertThat(findings()).isEmpty();
  }

  @Test
  void aBudgetBeyondTheOverheadIsToldWithTheNumbersAndTheKeys() {
    spark.set("spark.master", "k8s://https://127.0.0.1").set("spark.executor.memory", "4g");
    hadoop.set("fs.s3a.s3e.memory.budget", "900M");
    assertThat(findings())
        .singleElement()
        .asString()
        .contains("900 MiB", "overhead of 409 MiB")
        .contains("spark.executor.memoryOverhead to 1200m")
        .contains("spark.s3e.memory.budget to 307m");
    spark.set("spark.executor.memoryOverhead", "1200m");
    assertThat(findings()).isEmpty();
  }

  @Test
  void whatIsAdvisedIsEnough() {
    spark.set("spark.master", "yarn").set("spark.executor.memory", "1g");
    hadoop.set("fs.s3a.s3e.memory.budget", "512M");
    assertThat(findings())
        .singleElement()
        .asString()
        .contains("spark.executor.memoryOverhead to 683m");
    spark.set("spark.executor.memoryOverhead", "683m");
    assertThat(findings()).isEmpty();

    spark.set("spark.master", "spark://host:1");
    spark.set("spark.executor.extraJavaOptions", "-XX:MaxDirectMemorySize=150m");
    hadoop.set("fs.s3a.s3e.memory.budget", "100000000");
    assertThat(findings()).singleElement().asString().contains("-XX:MaxDirectMemorySize=191m");
    spark.set("spark.executor.extraJavaOptions", "-XX:MaxDirectMemorySize=191m");
    assertThat(findings()).isEmpty();
  }

  /** The driver's heap says nothing of an executor's. */
  @Test
  void aTargetOfThroughputHasTheBudgetOfAnExecutorsHeap() {
    spark.set("spark.master", "yarn").set("spark.executor.memory", "512m");
    spark.set("spark.executor.memoryOverhead", "100m");
    assertThat(findings()).isEmpty();
    hadoop.set("fs.s3a.s3e.throughput.target.gbps", "50");
    assertThat(findings()).isEmpty();
  }

  @Test
  void aLimitOf0IsNone() {
    spark.set("spark.executor.memory", "4g");
    spark.set("spark.executor.extraJavaOptions", "-XX:MaxDirectMemorySize=0");
    hadoop.set("fs.s3a.s3e.memory.budget", "100M");
    assertThat(findings()).isEmpty();
  }

  @Test
  void theLeastOverheadIsTheUsers() {
    spark.set("spark.master", "yarn").set("spark.executor.memory", "4g");
    spark.set("spark.executor.minMemoryOverhead", "1200m");
    hadoop.set("fs.s3a.s3e.memory.budget", "900M");
    assertThat(findings()).isEmpty();
  }

  @Test
  void kubernetesHasAFactorOfItsOwn() {
    spark.set("spark.master", "k8s://https://127.0.0.1").set("spark.executor.memory", "8g");
    hadoop.set("fs.s3a.s3e.memory.budget", "1g");
    assertThat(findings()).hasSize(1);
    spark.set("spark.kubernetes.memoryOverheadFactor", "0.4");
    assertThat(findings()).isEmpty();
    spark.set("spark.executor.memoryOverheadFactor", "0.1");
    assertThat(findings()).hasSize(1);
  }

  @Test
  void nobodyEnforcesTheOverheadOfAStandaloneWorker() {
    spark.set("spark.master", "spark://127.0.0.1:7077").set("spark.executor.memory", "4g");
    hadoop.set("fs.s3a.s3e.memory.budget", "900M");
    assertThat(findings()).isEmpty();
  }

  @Test
  void aBudgetBeyondHalfOfDirectMemoryIsTold() {
    spark
        .set("spark.master", "spark://127.0.0.1:7077")
        .set("spark.executor.memory", "8g")
        .set("spark.executor.extraJavaOptions", "-Dx=y -XX:MaxDirectMemorySize=1g");
    hadoop.set("fs.s3a.s3e.memory.budget", "600M");
    assertThat(findings())
        .singleElement()
        .asString()
        .contains("is 600 MiB", "is 512 MiB", "-XX:MaxDirectMemorySize=1200m");
    spark.set("spark.executor.extraJavaOptions", "-XX:MaxDirectMemorySize=1228800k");
    assertThat(findings()).isEmpty();
  }
}
