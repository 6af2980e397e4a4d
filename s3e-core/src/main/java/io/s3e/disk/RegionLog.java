package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.Regions.Appended;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The log beside a shared region: a {@link IndexRecord.Type#HEADER} and, behind it, a record for
 * each chunk that stands in the region and one for the name of each object, all with the header's
 * generation. Only the process that holds the region's lock writes; anybody reads.
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

  /** Takes a record, which is gone when this returns. */
  @FunctionalInterface
  interface Visitor {
    void visit(IndexRecord record) throws IOException;
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
   * The records of chunks that were appended, each object's name before its first chunk.
   *
   * @param named objects whose name is in the log; grows by those of the chunks
   */
  static ByteBuffer records(int generation, List<Appended> chunks, Set<StoredObject> named) {
    int bytes = 0;
    for (Appended chunk : chunks) {
      byte[] name = chunk.object().identity();
      bytes += IndexRecord.BYTES + (name == null ? 0 : IndexRecord.nameRecordBytes(name));
    }
    ByteBuffer records = ByteBuffer.allocate(bytes);
    for (Appended chunk : chunks) {
      byte[] name = chunk.object().identity();
      if (name != null && name.length <= IndexRecord.MOST_NAME_BYTES && named.add(chunk.object())) {
        IndexRecord.putName(records, generation, chunk.object(), name);
      }
      IndexRecord.putChunk(records, generation, chunk);
    }
    return records.flip();
  }

  /** Writes records, in one write. */
  void append(ByteBuffer records, long position) throws IOException {
    file.write(records, position);
  }

  /** Forgets what is behind the last whole record. */
  void cutOff(long position) throws IOException {
    file.truncate(position);
  }

  /**
   * Tells of all records from {@code from} on, names with what follows them.
   *
   * @return the place behind the last one
   */
  long scan(long from, int generation, IndexRecord record, Visitor visitor) throws IOException {
    long position = from;
    int length = LEAST_READ_BYTES;
    while (true) {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      int count = file.readFully(bytes, position);
      int at = 0;
      while (at + IndexRecord.BYTES <= count) {
        if (!record.read(bytes, at) || !belongs(record, generation)) {
          return position + at;
        }
        int end = at + IndexRecord.BYTES + record.payloadBytes();
        if (end > count) {
          break;
        }
        visitor.visit(record);
        at = end;
      }
      position += at;
      if (count < length) {
        return position;
      }
      length = MOST_READ_BYTES;
    }
  }

  private static boolean belongs(IndexRecord record, int generation) {
    boolean isOfRegion =
        record.type() == IndexRecord.Type.CHUNK || record.type() == IndexRecord.Type.NAME;
    return isOfRegion && record.generation() == generation && record.isPayloadPossible();
  }
}
