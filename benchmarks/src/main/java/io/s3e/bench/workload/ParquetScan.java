// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DataPageV1;
import org.apache.parquet.column.page.DataPageV2;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.MessageType;

/**
 * Some columns of a Parquet file, row group after row group, by parquet-java as it comes (vectored
 * reads on), of the row groups and pages that a filter leaves. Every page is decompressed and goes
 * into a checksum; values are not decoded, because that costs the same for all engines.
 */
final class ParquetScan implements Workload {

  private final RowFilter filter;

  ParquetScan(RowFilter filter) {
    this.filter = filter;
  }

  @Override
  public long run(RunContext context) throws Exception {
    FileSystem fileSystem = context.timedFileSystem();
    Path path = context.path();
    ReadMonitor monitor = context.monitor();
    monitor.begin("open of the Parquet file and its footer");
    InputFile file = new ParquetObject(fileSystem, fileSystem.getFileStatus(path), Opening.STATUS);
    ParquetReadOptions options =
        HadoopReadOptions.builder(fileSystem.getConf(), path)
            .withRecordFilter(filter.filter())
            .build();
    try (ParquetFileReader reader = ParquetFileReader.open(file, options)) {
      monitor.end();
      long checksum = scan(reader, context.spec().columns(), monitor, context.clock());
      context.usedBeside(context.clock().bytes() - monitor.bytesUsed());
      return checksum;
    } finally {
      monitor.end();
    }
  }

  @Override
  public long checksum(java.nio.file.Path file, List<String> columns) throws IOException {
    return checksum(new LocalInputFile(file), ParquetReadOptions.builder(), columns);
  }

  @Override
  public long checksum(FileSystem fileSystem, Path file, List<String> columns) throws IOException {
    return checksum(
        new ParquetObject(fileSystem, fileSystem.getFileStatus(file), Opening.STATUS),
        HadoopReadOptions.builder(fileSystem.getConf(), file),
        columns);
  }

  private long checksum(InputFile file, ParquetReadOptions.Builder options, List<String> columns)
      throws IOException {
    try (ParquetFileReader reader =
        ParquetFileReader.open(file, options.withRecordFilter(filter.filter()).build())) {
      return scan(reader, columns, new ReadMonitor(), new ReadClock());
    }
  }

  private long scan(
      ParquetFileReader reader, List<String> columns, ReadMonitor monitor, ReadClock clock)
      throws IOException {
    MessageType wanted = wanted(reader.getFileMetaData().getSchema(), columns);
    reader.setRequestedSchema(wanted);
    CRC32C checksum = new CRC32C();
    while (addGroup(reader, wanted, checksum, monitor, clock)) {
      clock.groupEnded();
    }
    return checksum.getValue();
  }

  private MessageType wanted(MessageType schema, List<String> columns) {
    return new MessageType(
        schema.getName(),
        Stream.concat(columns.stream(), filter.columns().stream())
            .distinct()
            .map(schema::getType)
            .toList());
  }

  /** Reads the next row group that the filter leaves; false when there is none. */
  private static boolean addGroup(
      ParquetFileReader reader,
      MessageType wanted,
      CRC32C checksum,
      ReadMonitor monitor,
      ReadClock clock)
      throws IOException {
    monitor.begin("next row group of " + reader.getRowGroups().size());
    try {
      long before = clock.bytes();
      PageReadStore pages = reader.readNextFilteredRowGroup();
      if (pages == null) {
        return false;
      }
      for (ColumnDescriptor column : wanted.getColumns()) {
        addPages(pages.getPageReader(column), checksum);
      }
      monitor.endRead(clock.bytes() - before);
      return true;
    } finally {
      monitor.end();
    }
  }

  private static void addPages(PageReader reader, CRC32C checksum) throws IOException {
    DictionaryPage dictionary = reader.readDictionaryPage();
    if (dictionary != null) {
      add(dictionary.getBytes(), checksum);
    }
    for (DataPage page = reader.readPage(); page != null; page = reader.readPage()) {
      if (page instanceof DataPageV1 v1) {
        add(v1.getBytes(), checksum);
      } else if (page instanceof DataPageV2 v2) {
        add(v2.getRepetitionLevels(), checksum);
        add(v2.getDefinitionLevels(), checksum);
        add(v2.getData(), checksum);
      } else {
        throw new IOException("Unknown kind of page: " + page);
      }
    }
  }

  private static void add(BytesInput bytes, CRC32C checksum) throws IOException {
    checksum.update(bytes.toByteBuffer());
  }
}
