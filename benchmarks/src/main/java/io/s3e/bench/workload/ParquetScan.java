package io.s3e.bench.workload;

import java.io.IOException;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DataPageV1;
import org.apache.parquet.column.page.DataPageV2;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.MessageType;

/**
 * Some columns of a Parquet file, row group after row group, by parquet-java as it comes (vectored
 * reads on). Every page is decompressed and goes into a checksum; values are not decoded, because
 * that costs the same for all engines.
 */
final class ParquetScan implements Workload {

  @Override
  public long run(RunContext context) throws Exception {
    FileSystem fileSystem = context.timedFileSystem();
    Path path = context.path();
    ReadMonitor monitor = context.monitor();
    monitor.begin("open of the Parquet file and its footer");
    InputFile file = new ParquetObject(fileSystem, fileSystem.getFileStatus(path), Opening.STATUS);
    try (ParquetFileReader reader =
        ParquetFileReader.open(
            file, HadoopReadOptions.builder(fileSystem.getConf(), path).build())) {
      monitor.end();
      return scan(reader, context.spec().columns(), monitor, context.clock());
    } finally {
      monitor.end();
    }
  }

  @Override
  public long checksum(java.nio.file.Path file, List<String> columns) throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file))) {
      return scan(reader, columns, new ReadMonitor(), new ReadClock());
    }
  }

  private static long scan(
      ParquetFileReader reader, List<String> columns, ReadMonitor monitor, ReadClock clock)
      throws IOException {
    MessageType schema = reader.getFileMetaData().getSchema();
    MessageType wanted =
        new MessageType(schema.getName(), columns.stream().map(schema::getType).toList());
    reader.setRequestedSchema(wanted);
    CRC32C checksum = new CRC32C();
    int group = 0;
    for (BlockMetaData rowGroup : reader.getRowGroups()) {
      monitor.begin("row group " + group++ + " of " + rowGroup.getRowCount() + " rows");
      try {
        PageReadStore pages = reader.readNextRowGroup();
        for (ColumnDescriptor column : wanted.getColumns()) {
          addPages(pages.getPageReader(column), checksum);
        }
        monitor.endRead(bytesOf(rowGroup, columns));
        clock.groupEnded();
      } finally {
        monitor.end();
      }
    }
    return checksum.getValue();
  }

  private static long bytesOf(BlockMetaData rowGroup, List<String> columns) {
    return rowGroup.getColumns().stream()
        .filter(chunk -> columns.contains(chunk.getPath().toArray()[0]))
        .mapToLong(ColumnChunkMetaData::getTotalSize)
        .sum();
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
