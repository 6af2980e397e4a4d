// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the footers of real Parquet files say. */
class LayoutRuleTest {
  private static final int ROWS_OF_GROUP = 20;

  @TempDir Path directory;

  /** Writes a table of one file of numbers and looks at it. */
  private FileLayout look(int columns, int groups, boolean dictionary) throws IOException {
    Path table = Files.createDirectories(directory.resolve("table"));
    Files.createFile(table.resolve("_SUCCESS"));
    Types.MessageTypeBuilder schema = Types.buildMessage();
    IntStream.range(0, columns).forEach(i -> schema.required(INT64).named("column_" + i));
    MessageType type = schema.named("numbers");
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(table.resolve("part-0.parquet")))
            .withType(type)
            .withRowGroupRowCountLimit(ROWS_OF_GROUP)
            .withDictionaryEncoding(dictionary)
            .build()) {
      for (int row = 0; row < groups * ROWS_OF_GROUP; row++) {
        Group numbers = new SimpleGroup(type);
        for (int column = 0; column < columns; column++) {
          numbers.add(column, (long) row % 3);
        }
        writer.write(numbers);
      }
    }
    List<String> failures = new ArrayList<>();
    Map<String, FileLayout> layouts =
        FooterLook.at(List.of(table()), new Configuration(), failures);
    assertThat(failures).isEmpty();
    return layouts.get(table().table());
  }

  private TableReads table() {
    Stage stage = new Stage(0, 0);
    TableScan scan =
        new TableScan(
            0, directory.resolve("table").toUri().toString(), "parquet", "", "", "", Map.of(), -1);
    return new TableReads(
        scan.table(), List.of(new TableReads.Run(stage, Optional.of(scan), 1, 1, 1 << 20)));
  }

  private List<Finding> find(FileLayout layout) {
    Facts facts = new Facts(new Application(), List.of(table()), Map.of(table().table(), layout));
    return new LayoutRule().find(facts);
  }

  @Test
  void shortRowGroups() throws IOException {
    FileLayout layout = look(1, 8, false);
    assertThat(layout.rowGroups()).isEqualTo(8);
    assertThat(layout.withoutDictionary()).containsExactly("column_0");
    assertThat(find(layout))
        .extracting(Finding::kind)
        .containsExactly(Finding.Kind.SMALL_ROW_GROUPS);
  }

  @Slow
  @Test
  void aLongFooter() throws IOException {
    FileLayout layout = look(400, 40, true);
    assertThat(layout.footerBytes()).isGreaterThan(1 << 20);
    assertThat(layout.withoutDictionary()).isEmpty();
    assertThat(find(layout)).extracting(Finding::kind).contains(Finding.Kind.LARGE_FOOTERS);
  }

  @Test
  void oneRowGroupIsAsLongAsItsFile() throws IOException {
    FileLayout layout = look(1, 1, true);
    assertThat(find(layout)).isEmpty();
  }

  /** Of Delta, of Spark's streams and of Hudi, whose names sort before those of the data. */
  @Test
  void whatLiesBesideTheDataIsNotLookedAt() throws IOException {
    for (String beside : List.of("_delta_log/00.json", "_spark_metadata/0", ".hoodie/metadata/f")) {
      Path file = directory.resolve("table").resolve(beside);
      Files.createDirectories(file.getParent());
      Files.write(file, new byte[1_000]);
    }
    Files.createDirectories(directory.resolve("table/_day=1"));
    assertThat(look(1, 1, true).rowGroups()).isEqualTo(1);
  }

  @Test
  void aTableThatIsGoneIsTold() {
    List<String> failures = new ArrayList<>();
    assertThat(FooterLook.at(List.of(table()), new Configuration(), failures)).isEmpty();
    assertThat(failures).hasSize(1).first().asString().contains(table().table());
  }
}
