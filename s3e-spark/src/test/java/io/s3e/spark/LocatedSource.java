// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A V2 source whose table is one file, with one row: its length. */
public final class LocatedSource implements TableProvider {
  /** How the names of tables end that do not tell where they lie. */
  public static final String UNTOLD = "-untold";

  private static final StructType SCHEMA = new StructType().add("length", DataTypes.LongType);

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new FileTable(properties.get("path"));
  }

  private record FileTable(String location) implements Table, SupportsRead {
    @Override
    public String name() {
      return location;
    }

    @Override
    @SuppressWarnings("deprecation") // Spark's other method calls this one.
    public StructType schema() {
      return SCHEMA;
    }

    @Override
    public Map<String, String> properties() {
      if (location.endsWith(UNTOLD)) {
        throw new IllegalStateException("the catalog is away");
      }
      return Map.of("location", location);
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new FileScan(location);
    }
  }

  private record FileScan(String location) implements Scan, Batch {
    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public Batch toBatch() {
      return this;
    }

    @Override
    public InputPartition[] planInputPartitions() {
      return new InputPartition[] {new Whole(location)};
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new Readers();
    }
  }

  private record Whole(String location) implements InputPartition {}

  private record Readers() implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new LengthReader(((Whole) partition).location());
    }
  }

  private static final class LengthReader implements PartitionReader<InternalRow> {
    private final Path file;
    private boolean given;
    private long length;

    LengthReader(String location) {
      file = new Path(location);
    }

    @Override
    public boolean next() throws IOException {
      if (given) {
        return false;
      }
      given = true;
      try (InputStream in = file.getFileSystem(SparkHadoopUtil.get().conf()).open(file)) {
        length = in.readAllBytes().length;
      }
      return true;
    }

    @Override
    public InternalRow get() {
      return new GenericInternalRow(new Object[] {length});
    }

    @Override
    public void close() {}
  }
}
