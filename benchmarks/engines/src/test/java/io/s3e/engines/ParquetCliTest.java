// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.data.LineItemParquet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** parquet-cli on a file of TPC-H lineitem. */
class ParquetCliTest {
  private static final String PARQUET = "org.apache.parquet.cli.Main";
  private static final double SCALE = 0.02;

  @TempDir private static Path directory;
  private static Store store;
  private static EngineHome parquet;

  @BeforeAll
  static void put() throws Exception {
    parquet = EngineHome.of("parquet-cli");
    store = Store.start(directory);
    Path file = directory.resolve("lineitem.parquet");
    LineItemParquet.write(file, SCALE, rows -> {});
    store.put("lineitem.parquet", file);
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  @Test
  @Tag("quick")
  void catWritesAColumn() throws Exception {
    Row row = compare("cat", "--columns", "l_extendedprice");
    assertThat(row.s3e().said()).hasSizeGreaterThan(100_000);
  }

  @Test
  void metaWritesTheFooter() throws Exception {
    Row row = compare("meta");
    assertThat(row.s3e().said()).anyMatch(line -> line.contains("l_extendedprice"));
  }

  private static Row compare(String command, String... options) throws Exception {
    return Row.compare(
        "parquet-cli",
        command,
        stream -> {
          List<String> arguments = new ArrayList<>(List.of(command));
          arguments.addAll(List.of(options));
          arguments.add(Store.ROOT + "lineitem.parquet");
          Outcome outcome =
              EngineProcess.of(parquet, PARQUET, stream, store, command)
                  .run(arguments.toArray(String[]::new));
          return outcome.withDigest(Store.digest(outcome.said()));
        });
  }
}
