// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;

/**
 * Some columns of an ORC file, batch after batch, by ORC's own reader as it comes. Every value goes
 * into a checksum. The columns are numbers.
 */
final class OrcScan implements Workload {

  @Override
  public long run(RunContext context) throws Exception {
    long checksum =
        scan(
            context.timedFileSystem(),
            context.path(),
            context.spec().columns(),
            context.monitor(),
            context.clock());
    context.usedBeside(context.clock().bytes() - context.monitor().bytesUsed());
    return checksum;
  }

  @Override
  public long checksum(java.nio.file.Path file, List<String> columns) throws IOException {
    FileSystem local = FileSystem.getLocal(new Configuration(false)).getRaw();
    return scan(local, new Path(file.toUri()), columns, new ReadMonitor(), new ReadClock());
  }

  private static long scan(
      FileSystem fileSystem, Path path, List<String> columns, ReadMonitor monitor, ReadClock clock)
      throws IOException {
    CRC32C checksum = new CRC32C();
    monitor.begin("open of the ORC file and its tail");
    try (Reader reader =
            OrcFile.createReader(
                path, OrcFile.readerOptions(fileSystem.getConf()).filesystem(fileSystem));
        RecordReader rows = reader.rows(reader.options().include(included(reader, columns)))) {
      monitor.end();
      VectorizedRowBatch batch = reader.getSchema().createRowBatch();
      while (addBatch(rows, batch, columns, reader.getSchema(), checksum, monitor, clock)) {
        // Until there is none.
      }
      reader.getStripes().forEach(stripe -> clock.groupEnded());
    } finally {
      monitor.end();
    }
    return checksum.getValue();
  }

  private static boolean[] included(Reader reader, List<String> columns) {
    TypeDescription schema = reader.getSchema();
    boolean[] included = new boolean[schema.getMaximumId() + 1];
    included[schema.getId()] = true;
    columns.forEach(column -> included[schema.findSubtype(column).getId()] = true);
    return included;
  }

  /** Reads the next batch; false when there is none. Most batches are in memory already. */
  private static boolean addBatch(
      RecordReader rows,
      VectorizedRowBatch batch,
      List<String> columns,
      TypeDescription schema,
      CRC32C checksum,
      ReadMonitor monitor,
      ReadClock clock)
      throws IOException {
    monitor.begin("next batch of the ORC file");
    try {
      long before = clock.bytes();
      if (!rows.nextBatch(batch)) {
        return false;
      }
      long given = clock.bytes() - before;
      if (given > 0) {
        monitor.endRead(given);
      }
    } finally {
      monitor.end();
    }
    ByteBuffer values = ByteBuffer.allocate(batch.size * Long.BYTES);
    for (String column : columns) {
      LongColumnVector vector =
          (LongColumnVector) batch.cols[schema.getFieldNames().indexOf(column)];
      for (int row = 0; row < batch.size; row++) {
        values.putLong(vector.vector[vector.isRepeating ? 0 : row]);
      }
      checksum.update(values.flip());
      values.clear();
    }
    return true;
  }
}
