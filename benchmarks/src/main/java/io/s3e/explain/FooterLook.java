// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.parquet.bytes.BytesUtils;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.io.SeekableInputStream;

/**
 * Opens the footers of some Parquet files of a table, through the file system that Hadoop's
 * configuration gives. Nothing but footers is read.
 */
final class FooterLook {
  /** Enough for what files of one table have in common; each is two or three GETs. */
  private static final int FILES = 16;

  /** A listing of more is not waited for. */
  private static final int LISTED = 10_000;

  /** Length of the footer and the magic number, at the end of a file. */
  private static final int TAIL_BYTES = 8;

  private final Configuration conf;
  private final Set<String> withDictionary = new HashSet<>();
  private final Set<String> columns = new HashSet<>();
  private final Set<String> withoutIndex = new HashSet<>();
  private int files;
  private long fileBytes;
  private int rowGroups;
  private long rowGroupBytes;
  private long largestRowGroupBytes;
  private long footerBytes;

  private FooterLook(Configuration conf) {
    this.conf = conf;
  }

  /**
   * Looks at the Parquet tables among these.
   *
   * @param failures takes a line for each table whose files cannot be read
   */
  static Map<String, FileLayout> at(
      List<TableReads> tables, Configuration conf, Collection<String> failures) {
    Map<String, FileLayout> layouts = new HashMap<>();
    for (TableReads table : tables) {
      boolean isParquet =
          table.runs().stream()
              .anyMatch(run -> run.scan().map(s -> s.format().equals("parquet")).orElse(false));
      if (!isParquet) {
        continue;
      }
      try {
        layouts.put(table.table(), new FooterLook(conf).look(new Path(table.table())));
      } catch (IOException | RuntimeException e) {
        failures.add(table.table() + ": its footers cannot be read: " + e.getMessage());
      }
    }
    return layouts;
  }

  private FileLayout look(Path table) throws IOException {
    List<FileStatus> found = list(table);
    int step = Math.max(1, found.size() / FILES);
    for (int i = 0; i < found.size() && files < FILES; i += step) {
      add(found.get(i));
    }
    Set<String> withoutDictionary = new HashSet<>(columns);
    withoutDictionary.removeAll(withDictionary);
    return new FileLayout(
        files,
        fileBytes,
        rowGroups,
        rowGroups == 0 ? 0 : rowGroupBytes / rowGroups,
        largestRowGroupBytes,
        footerBytes,
        withoutDictionary,
        withoutIndex);
  }

  private List<FileStatus> list(Path table) throws IOException {
    FileSystem fileSystem = table.getFileSystem(conf);
    List<FileStatus> found = new ArrayList<>();
    RemoteIterator<LocatedFileStatus> listing = fileSystem.listFiles(table, true);
    while (listing.hasNext() && found.size() < LISTED) {
      LocatedFileStatus file = listing.next();
      if (file.getLen() > TAIL_BYTES && isData(file.getPath(), table)) {
        found.add(file);
      }
    }
    return found;
  }

  /**
   * Not those of {@code _delta_log}, {@code _spark_metadata} or {@code .hoodie}, as Spark has it.
   */
  private static boolean isData(Path file, Path table) {
    for (Path at = file; at != null && at.depth() > table.depth(); at = at.getParent()) {
      String name = at.getName();
      if (name.startsWith(".") || (name.startsWith("_") && !name.contains("="))) {
        return false;
      }
    }
    return true;
  }

  private void add(FileStatus status) throws IOException {
    HadoopInputFile file = HadoopInputFile.fromStatus(status, conf);
    try (SeekableInputStream in = file.newStream()) {
      in.seek(status.getLen() - TAIL_BYTES);
      footerBytes = Math.max(footerBytes, BytesUtils.readIntLittleEndian(in));
    }
    try (ParquetFileReader reader = ParquetFileReader.open(file)) {
      reader.getFooter().getBlocks().forEach(this::add);
    }
    files++;
    fileBytes += status.getLen();
  }

  private void add(BlockMetaData group) {
    long bytes = group.getCompressedSize();
    rowGroups++;
    rowGroupBytes += bytes;
    largestRowGroupBytes = Math.max(largestRowGroupBytes, bytes);
    for (ColumnChunkMetaData chunk : group.getColumns()) {
      String column = chunk.getPath().toDotString();
      columns.add(column);
      boolean isToldByPages =
          chunk.getEncodingStats() != null && chunk.getEncodingStats().hasDictionaryPages();
      if (chunk.hasDictionaryPage() || isToldByPages) {
        withDictionary.add(column);
      }
      if (chunk.getColumnIndexReference() == null) {
        withoutIndex.add(column);
      }
    }
  }
}
