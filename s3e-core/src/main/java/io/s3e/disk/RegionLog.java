package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.RegionFiles.Appended;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The log beside a shared region: a {@link IndexRecord.Type#HEADER} and, behind it, a record for
 * each chunk that stands in the region, with the header's generation. Only the process that holds
 * the region's lock writes; anybody reads.
 *
 * <p>The log ends for a reader where there is no whole record of that generation. Nothing behind is
 * believed.
 *
 * <p>Stateless but for its file; any thread.
 */
final class RegionLog {
  /** Where the records begin that follow the header. */
  static final long FIRST = IndexRecord.BYTES;

  private static final int MOST_READ_BYTES = 64 << 10;
  private static final int LEAST_READ_BYTES = 4 << 10;

  private final OpenFile file;
  private final int number;
  private final long regionBytes;

  RegionLog(OpenFile file, int number, long regionBytes) {
    this.file = file;
    this.number = number;
    this.regionBytes = regionBytes;
  }

  long size() throws IOException {
    return file.size();
  }

  /** How the present generation began; null if that is not to be read. */
  @Nullable Header header() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(IndexRecord.BYTES);
    IndexRecord record = new IndexRecord();
    return file.readFully(bytes, 0) == IndexRecord.BYTES && record.read(bytes, 0)
        ? record.header(number, regionBytes)
        : null;
  }

  /** Begins a generation: from here on nobody takes what the region holds for that of another. */
  void begin(Header header) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(IndexRecord.BYTES);
    IndexRecord.putHeader(bytes, header);
    file.write(bytes.flip(), 0);
    file.truncate(FIRST);
  }

  /**
   * Writes the records of chunks behind the last one, in one write.
   *
   * @return the place behind them
   */
  long append(int generation, List<Appended> chunks, long position) throws IOException {
    ByteBuffer records = ByteBuffer.allocate(chunks.size() * IndexRecord.BYTES);
    chunks.forEach(chunk -> IndexRecord.putChunk(records, generation, chunk));
    file.write(records.flip(), position);
    return position + records.limit();
  }

  /** Forgets what is behind the last whole record. */
  void cutOff(long position) throws IOException {
    file.truncate(position);
  }

  /**
   * Tells of all records from {@code from} on.
   *
   * @return the place behind the last one
   */
  long scan(long from, int generation, Consumer<IndexRecord> visitor) throws IOException {
    IndexRecord record = new IndexRecord();
    long position = from;
    ByteBuffer bytes = ByteBuffer.allocate(LEAST_READ_BYTES);
    while (true) {
      int count = file.readFully(bytes.clear(), position);
      for (int at = 0; at + IndexRecord.BYTES <= count; at += IndexRecord.BYTES) {
        boolean belongs =
            record.read(bytes, at)
                && record.type() == IndexRecord.Type.CHUNK
                && record.generation() == generation;
        if (!belongs) {
          return position;
        }
        visitor.accept(record);
        position += IndexRecord.BYTES;
      }
      if (count < bytes.capacity()) {
        return position;
      }
      bytes = ByteBuffer.allocate(MOST_READ_BYTES);
    }
  }
}
