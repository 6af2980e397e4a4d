// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.iceberg.BaseMetastoreTableOperations;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;

/** A table of Iceberg's with many columns, small row groups and positional deletes. */
final class Tables {
  static final int COLUMNS = 16;
  static final int ROWS = 40_000;
  static final int FILES = 4;
  private static final int EVERY = 97;

  static final Schema SCHEMA = schema();

  private Tables() {}

  private static Schema schema() {
    List<Types.NestedField> fields = new ArrayList<>();
    for (int i = 0; i < COLUMNS; i++) {
      fields.add(
          Types.NestedField.required(
              i + 1, "c" + i, i % 4 == 3 ? Types.StringType.get() : Types.LongType.get()));
    }
    return new Schema(fields);
  }

  /** Where the table's metadata is: what a catalog remembers. */
  static final class Pointer {
    String metadata;
  }

  /** The table by one file IO; several may be at the same pointer. */
  static Table open(FileIO io, String location, Pointer pointer) {
    Operations operations = new Operations(io, pointer);
    if (pointer.metadata == null) {
      operations.commit(
          null,
          TableMetadata.newTableMetadata(
              SCHEMA, PartitionSpec.unpartitioned(), location, Map.of()));
    }
    operations.refresh();
    return new BaseTable(operations, "table");
  }

  private static final class Operations extends BaseMetastoreTableOperations {
    private final FileIO io;
    private final Pointer pointer;

    Operations(FileIO io, Pointer pointer) {
      this.io = io;
      this.pointer = pointer;
    }

    @Override
    protected String tableName() {
      return "table";
    }

    @Override
    public FileIO io() {
      return io;
    }

    @Override
    protected void doRefresh() {
      refreshFromMetadataLocation(pointer.metadata);
    }

    @Override
    protected void doCommit(TableMetadata base, TableMetadata metadata) {
      pointer.metadata = writeNewMetadataIfRequired(base == null, metadata);
    }
  }

  /** Appends files, each with deletes of every 97th row. */
  static void fill(Table table, long seed) throws Exception {
    Random random = new Random(seed);
    for (int file = 0; file < FILES; file++) {
      DataFile data = data(table, random);
      table.newAppend().appendFile(data).commit();
      table.newRowDelta().addDeletes(deletes(table, data)).commit();
    }
  }

  private static DataFile data(Table table, Random random) throws Exception {
    String location = table.location() + "/data/" + new UUID(random.nextLong(), 1) + ".parquet";
    DataWriter<Record> writer =
        Parquet.writeData(table.io().newOutputFile(location))
            .forTable(table)
            .set("write.parquet.row-group-size-bytes", Integer.toString(512 << 10))
            .set("write.parquet.compression-codec", "uncompressed")
            .createWriterFunc(GenericParquetWriter::create)
            .overwrite()
            .build();
    try (writer) {
      GenericRecord row = GenericRecord.create(SCHEMA);
      for (int i = 0; i < ROWS; i++) {
        for (int column = 0; column < COLUMNS; column++) {
          long value = random.nextLong();
          row.set(column, column % 4 == 3 ? Long.toHexString(value) : (Object) value);
        }
        writer.write(row);
      }
    }
    return writer.toDataFile();
  }

  private static DeleteFile deletes(Table table, DataFile data) throws Exception {
    String location = data.location().replace("/data/", "/deletes/");
    PositionDeleteWriter<Record> writer =
        Parquet.writeDeletes(table.io().newOutputFile(location))
            .withSpec(PartitionSpec.unpartitioned())
            .overwrite()
            .buildPositionWriter();
    try (writer) {
      for (long row = 0; row < ROWS; row += EVERY) {
        PositionDelete<Record> delete = PositionDelete.create();
        writer.write(delete.set(data.location(), row));
      }
    }
    return writer.toDeleteFile();
  }

  /** What a scan of some columns finds: rows, and a sum, since files come in any order. */
  record Digest(long rows, long sum) {}

  static Digest digest(Table table, String... columns) throws Exception {
    long rows = 0;
    long sum = 0;
    try (CloseableIterable<Record> scan = IcebergGenerics.read(table).select(columns).build()) {
      for (Record record : scan) {
        rows++;
        long row = 0;
        for (String column : columns) {
          row = 31 * row + record.getField(column).hashCode();
        }
        sum += row * (row | 1);
      }
    }
    return new Digest(rows, sum);
  }
}
