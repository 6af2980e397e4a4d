package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.data.TextParquet;
import io.s3e.bench.data.TextParquet.Coding;
import io.s3e.bench.data.TextParquet.Column;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the footers of real Parquet files say. */
class LayoutRuleTest {
  @TempDir Path directory;

  private FileLayout look(TextParquet parquet) throws IOException {
    Files.createDirectories(directory.resolve("table"));
    parquet.write(directory.resolve("table").resolve("part-0.parquet"), bytes -> {});
    Files.createFile(directory.resolve("table").resolve("_SUCCESS"));
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
            0, directory.resolve("table").toUri().toString(), "parquet", "", "", Map.of(), -1);
    return new TableReads(
        scan.table(), List.of(new TableReads.Run(stage, Optional.of(scan), 1, 1, 1 << 20)));
  }

  private List<Finding> find(FileLayout layout) {
    Facts facts = new Facts(new Application(), List.of(table()), Map.of(table().table(), layout));
    return new LayoutRule().find(facts);
  }

  @Test
  void shortRowGroups() throws IOException {
    FileLayout layout = look(new TextParquet(List.of(new Column("a", 1, Coding.PLAIN)), 10_000, 8));
    assertThat(layout.rowGroups()).isEqualTo(8);
    assertThat(layout.withoutDictionary()).containsExactly("a");
    assertThat(find(layout))
        .extracting(Finding::kind)
        .containsExactly(Finding.Kind.SMALL_ROW_GROUPS);
  }

  @Test
  void aLongFooter() throws IOException {
    List<Column> columns =
        IntStream.range(0, 500)
            .mapToObj(i -> new Column("a_column_with_a_name_" + i, 1, Coding.DICTIONARY))
            .toList();
    FileLayout layout = look(new TextParquet(columns, 100_000, 30));
    assertThat(layout.footerBytes()).isGreaterThan(1 << 20);
    assertThat(layout.withoutDictionary()).isEmpty();
    assertThat(find(layout)).extracting(Finding::kind).contains(Finding.Kind.LARGE_FOOTERS);
  }

  @Test
  void oneRowGroupIsAsLongAsItsFile() throws IOException {
    FileLayout layout =
        look(new TextParquet(List.of(new Column("a", 1, Coding.DICTIONARY)), 10_000, 1));
    assertThat(find(layout)).isEmpty();
  }

  @Test
  void aTableThatIsGoneIsTold() {
    List<String> failures = new ArrayList<>();
    assertThat(FooterLook.at(List.of(table()), new Configuration(), failures)).isEmpty();
    assertThat(failures).hasSize(1).first().asString().contains(table().table());
  }
}
