// SPDX-License-Identifier: Apache-2.0
package io.s3e.readers;

import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;

/**
 * A program that names S3E in configuration only: it writes a table of Iceberg's whose catalog has
 * S3E's file IO, scans it, reads its data file by {@code s3a://} as well, and prints what became of
 * it. Arguments: the endpoint, the bucket and the two secrets.
 */
public final class TableBesideS3a {
  private static final int ROWS = 1_000_000;
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()),
          Types.NestedField.required(2, "word", Types.StringType.get()));

  private TableBesideS3a() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = configuration(args);
    String warehouse = "s3a://" + args[1] + "/warehouse";
    try (HadoopCatalog catalog = catalog(args, conf, warehouse)) {
      Table table = catalog.createTable(TableIdentifier.of("db", "items"), SCHEMA);
      DataFile file = write(table);
      table.newAppend().appendFile(file).commit();
      System.out.println("SCANNED " + scan(table) + " by " + table.io().getClass().getName());
      try (FileSystem fs = FileSystem.newInstance(URI.create(warehouse), conf)) {
        System.out.println("WRONG " + compare(fs, table, file));
        var counters = IOStatisticsSupport.retrieveIOStatistics(fs).counters();
        System.out.println("LENGTH " + file.fileSizeInBytes());
        System.out.println("FETCHED " + counters.get("s3e_fetched_bytes"));
        System.out.println("HITS " + counters.get("s3e_memory_hits"));
      }
    }
    System.out.println("END");
  }

  private static Configuration configuration(String[] args) {
    Configuration conf = new Configuration();
    conf.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    conf.set("fs.s3a.endpoint", args[0]);
    conf.set("fs.s3a.endpoint.region", "us-east-1");
    conf.set("fs.s3a.access.key", args[2]);
    conf.set("fs.s3a.secret.key", args[3]);
    conf.setBoolean("fs.s3a.path.style.access", true);
    conf.set("fs.s3a.s3e.cache.mode", "memory");
    // So that what was read stays; the file IO, which asks for none, reads within it too.
    conf.set("fs.s3a.s3e.memory.budget", "128m");
    return conf;
  }

  private static HadoopCatalog catalog(String[] args, Configuration conf, String warehouse) {
    Map<String, String> properties = new HashMap<>();
    properties.put("warehouse", warehouse);
    properties.put("io-impl", "io.s3e.iceberg.S3EFileIO");
    properties.put("s3.endpoint", args[0]);
    properties.put("s3.path-style-access", "true");
    properties.put("s3.access-key-id", args[2]);
    properties.put("s3.secret-access-key", args[3]);
    properties.put("client.region", "us-east-1");
    // Its default, apache, is one that S3A does not bring.
    properties.put("http-client.type", "urlconnection");
    HadoopCatalog catalog = new HadoopCatalog();
    catalog.setConf(conf);
    catalog.initialize("lake", properties);
    return catalog;
  }

  private static String word(long id) {
    return Long.toHexString(id * 0x9E3779B97F4A7C15L);
  }

  private static DataFile write(Table table) throws IOException {
    DataWriter<Record> writer =
        Parquet.writeData(table.io().newOutputFile(table.location() + "/data/items.parquet"))
            .schema(SCHEMA)
            .withSpec(PartitionSpec.unpartitioned())
            .createWriterFunc(GenericParquetWriter::create)
            .overwrite()
            .build();
    try (writer) {
      GenericRecord row = GenericRecord.create(SCHEMA);
      for (long id = 0; id < ROWS; id++) {
        row.set(0, id);
        row.set(1, word(id));
        writer.write(row);
      }
    }
    return writer.toDataFile();
  }

  /** How many rows came, and how many of them are wrong. */
  private static String scan(Table table) throws IOException {
    long rows = 0;
    long wrong = 0;
    try (CloseableIterable<Record> scan = IcebergGenerics.read(table).build()) {
      for (Record row : scan) {
        wrong += row.get(0).equals(rows) && row.get(1).equals(word(rows)) ? 0 : 1;
        rows++;
      }
    }
    return rows + " wrong " + wrong;
  }

  /** In how many bytes the data file differs, as the file system and the file IO read it. */
  private static long compare(FileSystem fs, Table table, DataFile file) throws IOException {
    int length = Math.toIntExact(file.fileSizeInBytes());
    byte[] byFileSystem = new byte[length];
    try (FSDataInputStream in = fs.open(new Path(file.location()))) {
      // The first answer proves which version the blocks in memory are of.
      byFileSystem[0] = (byte) in.read();
      in.readFully(1, byFileSystem, 1, length - 1);
    }
    long wrong = 0;
    try (var in = table.io().newInputFile(file.location(), length).newStream()) {
      byte[] byFileIo = in.readAllBytes();
      wrong += Math.abs(byFileIo.length - length);
      for (int i = 0; i < Math.min(length, byFileIo.length); i++) {
        wrong += byFileIo[i] == byFileSystem[i] ? 0 : 1;
      }
    }
    return wrong;
  }
}
