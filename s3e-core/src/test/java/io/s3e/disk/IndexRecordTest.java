package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.Region.Kind;
import io.s3e.disk.RegionFiles.Appended;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class IndexRecordTest {
  private static final long REGION_BYTES = 2 << 20;
  private static final Header HEADER =
      new Header(7, 42, Kind.SCANNED, REGION_BYTES, 1_700_000_000_000L, 0x1234567890L, -5);
  private final StoredObject object =
      StoredObject.of(
          "http://store",
          ObjectVersion.identified(new ObjectRef("bucket", "key"), 200_000, "\"etag\"", null));
  private final IndexRecord record = new IndexRecord();

  private ByteBuffer written(IndexRecord.Type type) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * IndexRecord.BYTES);
    switch (type) {
      case HEADER -> IndexRecord.putHeader(bytes, HEADER);
      case CHUNK -> IndexRecord.putChunk(bytes, 42, new Appended(object, 3, 17, -1, 2));
    }
    return bytes.flip();
  }

  @ParameterizedTest
  @EnumSource
  void everyFlipOfABitIsFound(IndexRecord.Type type) {
    ByteBuffer bytes = written(type);
    for (int bit = 0; bit < IndexRecord.BYTES * Byte.SIZE; bit++) {
      int at = bit / Byte.SIZE;
      byte before = bytes.get(at);
      bytes.put(at, (byte) (before ^ 1 << bit % Byte.SIZE));
      assertThat(record.read(bytes, 0)).as("bit %d of %s", bit, type).isFalse();
      bytes.put(at, before);
    }
    assertThat(record.read(bytes, 0)).isTrue();
    assertThat(record.type()).isEqualTo(type);
  }

  @Test
  void saysWhatWasWritten() {
    assertThat(record.read(written(IndexRecord.Type.HEADER), 0)).isTrue();
    assertThat(record.header(7, REGION_BYTES)).isEqualTo(HEADER);
    assertThat(HEADER.salt()).hasSize(RegionKey.SALT_BYTES).startsWith(0, 0, 0, 0x12);

    assertThat(record.read(written(IndexRecord.Type.CHUNK), 0)).isTrue();
    assertThat(record.object()).isEqualTo(object);
    assertThat(record.generation()).isEqualTo(42);
    assertThat(record.chunk()).isEqualTo(3);
    assertThat(record.slot()).isEqualTo(17);
    assertThat(record.sealHigh()).isEqualTo(-1);
    assertThat(record.sealLow()).isEqualTo(2);
  }

  @Test
  void objectsAreToldApartEvenIfOneComesAfterTheOther() {
    StoredObject longer =
        StoredObject.of(
            "http://store",
            ObjectVersion.identified(new ObjectRef("bucket", "key"), 200_001, "\"etag\"", null));
    ByteBuffer bytes = ByteBuffer.allocate(3 * IndexRecord.BYTES);
    for (StoredObject each : new StoredObject[] {object, longer, object}) {
      IndexRecord.putChunk(bytes, 1, new Appended(each, 0, 0, 0, 0));
    }
    assertThat(record.read(bytes, 0)).isTrue();
    assertThat(record.object()).isEqualTo(object);
    assertThat(record.read(bytes, 64)).isTrue();
    assertThat(record.object()).isEqualTo(longer);
    assertThat(record.read(bytes, 128)).isTrue();
    assertThat(record.object()).isEqualTo(object);
  }

  @Test
  void chunksBeyondTheObjectOrTheRegionDoNotFit() {
    int lastSlot = (int) (REGION_BYTES / Region.SLOT_BYTES) - 16;
    assertThat(fits(0, 0)).isTrue();
    assertThat(fits(3, lastSlot + 15)).as("the last chunk is of one slot").isTrue();
    assertThat(fits(2, lastSlot)).isTrue();
    assertThat(fits(2, lastSlot + 1)).isFalse();
    assertThat(fits(4, 0)).isFalse();
    assertThat(fits(-1, 0)).isFalse();
    assertThat(fits(0, -1)).isFalse();
    assertThat(fits(0, Integer.MAX_VALUE)).isFalse();
  }

  private boolean fits(int chunk, int slot) {
    ByteBuffer bytes = ByteBuffer.allocate(IndexRecord.BYTES);
    IndexRecord.putChunk(bytes, 1, new Appended(object, chunk, slot, 0, 0));
    assertThat(record.read(bytes, 0)).isTrue();
    return record.fits(object, REGION_BYTES);
  }

  @Test
  void headersOfOtherRegionsAreNone() {
    assertThat(record.read(written(IndexRecord.Type.HEADER), 0)).isTrue();
    assertThat(record.header(8, REGION_BYTES)).isNull();
    assertThat(record.header(7, REGION_BYTES * 2)).isNull();
    assertThat(record.read(written(IndexRecord.Type.CHUNK), 0)).isTrue();
    assertThat(record.header(3, REGION_BYTES)).isNull();
  }

  @Test
  void everyFlipInALayoutIsFound() {
    Layout layout = Layout.of(100 << 20, CacheKey.random());
    ByteBuffer bytes = layout.encode();
    for (int bit = 0; bit < bytes.capacity() * Byte.SIZE; bit++) {
      int at = bit / Byte.SIZE;
      byte before = bytes.get(at);
      bytes.put(at, (byte) (before ^ 1 << bit % Byte.SIZE));
      assertThat(Layout.decode(bytes)).as("bit %d", bit).isNull();
      bytes.put(at, before);
    }
    assertThat(Layout.decode(bytes)).isEqualTo(layout);
  }

  @Test
  void layoutsKeepToTheCapacity() {
    for (long mib : new long[] {16, 17, 63, 64, 100, 1000, 10 << 10, 20 << 10, 1 << 20}) {
      Layout layout = Layout.of(mib << 20, null);
      assertThat(layout.capacityBytes())
          .isLessThanOrEqualTo(mib << 20)
          .isGreaterThan((mib << 20) / 100 * 94);
      assertThat(Layout.decode(layout.encode())).isEqualTo(layout);
    }
    assertThat(Layout.of(10L << 30, null).regions()).isEqualTo(64);
    assertThat(Layout.of(16 << 20, null).regions()).isEqualTo(16);
  }
}
