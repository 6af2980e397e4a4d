// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.workload.WorkloadKind;
import io.s3e.testing.Slow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.LocalInputFile;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LineItemTest {

  private static final List<String> COLUMNS = List.of("l_orderkey", "l_comment");

  @TempDir private Path temp;

  @Test
  @Slow
  void textHasExactlyTheLengthAndIsTheSameEachTime() throws Exception {
    Path one = temp.resolve("one");
    Path two = temp.resolve("two");
    LineItemText.write(one, 1_000_001, written -> {});
    LineItemText.write(two, 1_000_001, written -> {});

    assertThat(Files.size(one)).isEqualTo(1_000_001);
    assertThat(Files.mismatch(one, two)).isEqualTo(-1);
    assertThat(Files.readString(one).lines().findFirst().orElseThrow())
        .startsWith("0|1|")
        .contains("|DELIVER IN PERSON|TRUCK|");
  }

  @Slow
  @Test
  void everyPassOfTheTextDiffersFromTheOthers() throws Exception {
    Path file = temp.resolve("passes");
    LineItemText.write(file, 40 << 20, written -> {});

    try (var lines = Files.lines(file)) {
      assertThat(lines.map(line -> line.split("\\|", 2)[0]).distinct()).containsExactly("0", "1");
    }
  }

  @Slow
  @Test
  void parquetHoldsEveryRowInSixteenColumns() throws Exception {
    Path file = temp.resolve("file.parquet");
    LineItemParquet.write(file, 0.002, rows -> {});

    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file))) {
      assertThat(reader.getRecordCount())
          .isCloseTo(LineItemParquet.approximateRows(0.002), Percentage.withPercentage(5));
      assertThat(reader.getFileMetaData().getSchema().getFieldCount()).isEqualTo(16);
    }
    WorkloadKind decoding = WorkloadKind.of("parquet");
    long checksum = decoding.checksum(file, COLUMNS);
    Path again = temp.resolve("again.parquet");
    LineItemParquet.write(again, 0.002, rows -> {});
    assertThat(decoding.checksum(again, COLUMNS)).isEqualTo(checksum).isNotZero();
    assertThat(decoding.checksum(file, List.of("l_orderkey"))).isNotEqualTo(checksum);
  }
}
