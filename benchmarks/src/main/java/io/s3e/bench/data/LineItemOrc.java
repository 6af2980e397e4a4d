// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

/** TPC-H lineitem as an ORC file: 16 columns, ORC's own codec, several stripes. */
public final class LineItemOrc {

  private static final long MOST_STRIPE_BYTES = 64L << 20;
  private static final long STRIPE_BYTES_OF_SCALE_1 = 32L << 20;
  private static final long LEAST_STRIPE_BYTES = 64L << 10;

  private static final TypeDescription SCHEMA =
      TypeDescription.fromString(
          "struct<l_orderkey:bigint,l_partkey:bigint,l_suppkey:bigint,l_linenumber:int,"
              + "l_quantity:bigint,l_extendedprice:bigint,l_discount:bigint,l_tax:bigint,"
              + "l_returnflag:string,l_linestatus:string,l_shipdate:date,l_commitdate:date,"
              + "l_receiptdate:date,l_shipinstruct:string,l_shipmode:string,l_comment:string>");

  private LineItemOrc() {}

  /**
   * A file of scale 2 and above has the stripes of ORC by default; those of a smaller one are
   * smaller. (Scale 1 is about 150 MB; a stripe is a third of that long, once it is compressed.)
   */
  private static long stripeBytes(double scale) {
    long scaled = Math.round(STRIPE_BYTES_OF_SCALE_1 * scale);
    return Math.max(LEAST_STRIPE_BYTES, Math.min(scaled, MOST_STRIPE_BYTES));
  }

  /**
   * Writes the whole table.
   *
   * @param scale TPC-H scale factor; 1 is about six million rows
   * @param progress told how many rows are written, now and then
   */
  public static void write(Path file, double scale, LongConsumer progress) throws IOException {
    Configuration configuration = new Configuration(false);
    VectorizedRowBatch batch = SCHEMA.createRowBatch();
    long rows = 0;
    try (Writer writer =
        OrcFile.createWriter(
            new org.apache.hadoop.fs.Path(file.toUri()),
            OrcFile.writerOptions(configuration)
                // Without a file of checksums beside it.
                .fileSystem(FileSystem.getLocal(configuration).getRaw())
                .stripeSize(stripeBytes(scale))
                .setSchema(SCHEMA))) {
      for (LineItem item : new LineItemGenerator(scale, 1, 1)) {
        new Row(batch).set(item);
        if (batch.size == batch.getMaxSize()) {
          writer.addRowBatch(batch);
          rows += batch.size;
          batch.reset();
          progress.accept(rows);
        }
      }
      writer.addRowBatch(batch);
    }
  }

  /** Sets the next row of a batch, column after column of the schema. */
  private static final class Row implements LineItemColumns {
    private final VectorizedRowBatch batch;
    private final int row;
    private int column;

    Row(VectorizedRowBatch batch) {
      this.batch = batch;
      this.row = batch.size++;
    }

    void set(LineItem item) {
      LineItemColumns.of(item, this);
    }

    @Override
    public void add(int value) {
      add((long) value);
    }

    @Override
    public void add(long value) {
      ((LongColumnVector) batch.cols[column++]).vector[row] = value;
    }

    @Override
    public void add(String value) {
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      ((BytesColumnVector) batch.cols[column++]).setVal(row, bytes);
    }
  }
}
