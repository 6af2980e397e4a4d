// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A real Spark without the plugin reads one column of a Parquet file in many splits, by both of its
 * readers: the row groups of each split are fetched ahead, and none of the split behind it.
 */
class ColumnarSplitsTest extends SparkOnServer {
  private static final long ROWS = 1_200_000;

  @ParameterizedTest
  @Tag("spark")
  @ValueSource(strings = {"parquet", ""})
  void nothingIsFetchedBehindASplit(String readByDsv1) throws Exception {
    try (SparkSession session =
        new LocalSpark(server, directory)
            .plain()
            .config("spark.hadoop.fs.s3a.impl", S3EFileSystem.class.getName())
            .config("spark.sql.sources.useV1SourceList", readByDsv1)
            .config("spark.sql.files.maxPartitionBytes", "4m")
            .config("spark.sql.files.openCostInBytes", "0")
            .getOrCreate()) {
      String table = LocalSpark.path("splits");
      session
          .range(0, ROWS, 1, 1)
          .selectExpr("id AS a", "id * 7 AS b", "hash(id) AS c")
          .write()
          .mode("overwrite")
          .option("compression", "none")
          .option("parquet.enable.dictionary", "false")
          .option("parquet.block.size", 1 << 20)
          .parquet(table);
      Map<Counter, Long> before = OpenEngines.work().metrics().snapshot();
      var column = session.read().parquet(table).select("b");
      assertThat(column.rdd().getNumPartitions()).isGreaterThan(2);
      assertThat(column.groupBy().sum("b").first().getLong(0)).isEqualTo((ROWS - 1) * ROWS / 2 * 7);
      Map<Counter, Long> after = OpenEngines.work().metrics().snapshot();
      assertThat(since(before, after, Counter.COLUMNAR_GROUP_USED_BYTES)).isPositive();
      assertThat(since(before, after, Counter.COLUMNAR_GROUP_WASTED_BYTES)).isZero();
    }
  }

  private static long since(Map<Counter, Long> before, Map<Counter, Long> after, Counter counter) {
    return after.get(counter) - before.get(counter);
  }
}
