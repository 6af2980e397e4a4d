// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.Region.Header;
import io.s3e.disk.Region.Place;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class RegionTableTest {
  private static final long REGION_BYTES = 2 << 20;
  private final StoredObject object = object(200_000);
  private final Region region = region(7, REGION_BYTES);

  private static StoredObject object(long size) {
    return StoredObject.of(
        "http://store",
        ObjectVersion.identified(new ObjectRef("bucket", "key"), size, "\"etag\"", null));
  }

  private static Region region(int number, long bytes) {
    return StoredBytes.region(number, bytes, 10, null);
  }

  private ByteBuffer header() {
    byte[] salt = new byte[CacheKey.SALT_BYTES];
    salt[3] = 0x12;
    Header header = new Header(7, 10, REGION_BYTES, 1_700_000_000_000L, ByteBuffer.wrap(salt));
    return RegionTable.encoded(header);
  }

  private ByteBuffer chunks(Place... places) {
    ByteBuffer bytes = ByteBuffer.allocate(places.length * RegionTable.RECORD_BYTES);
    for (Place each : places) {
      RegionTable.put(bytes, each);
    }
    return bytes.flip();
  }

  private Place place(StoredObject of, int chunk, int slot) {
    return new Place(of, chunk, region, slot, -1, 2);
  }

  private static void requireEveryFlipIsFound(ByteBuffer bytes, BooleanSupplier isFound) {
    for (int bit = 0; bit < RegionTable.RECORD_BYTES * Byte.SIZE; bit++) {
      int at = bit / Byte.SIZE;
      byte before = bytes.get(at);
      bytes.put(at, (byte) (before ^ 1 << bit % Byte.SIZE));
      assertThat(isFound.getAsBoolean()).as("bit %d", bit).isFalse();
      bytes.put(at, before);
    }
    assertThat(isFound.getAsBoolean()).isTrue();
  }

  @Test
  void everyFlipOfABitIsFound() {
    ByteBuffer header = header();
    requireEveryFlipIsFound(header, () -> RegionTable.header(header) != null);
    requireEveryFlipIsFound(header, () -> RegionTable.isWhole(header, 0));
    ByteBuffer chunk = chunks(place(object, 3, 17));
    requireEveryFlipIsFound(chunk, () -> RegionTable.chunk(chunk, 0, region) != null);
    requireEveryFlipIsFound(chunk, () -> RegionTable.isWhole(chunk, 0));
  }

  @Test
  void saysWhatWasWritten() {
    Header header = RegionTable.header(header());
    assertThat(header).isNotNull();
    assertThat(header.number()).isEqualTo(7);
    assertThat(header.mostChunks()).isEqualTo(10);
    assertThat(header.regionBytes()).isEqualTo(REGION_BYTES);
    assertThat(header.beganMillis()).isEqualTo(1_700_000_000_000L);
    assertThat(header.salt().remaining()).isEqualTo(CacheKey.SALT_BYTES);
    assertThat(header.salt().get(3)).isEqualTo((byte) 0x12);

    Place place = place(object, 3, 17);
    assertThat(RegionTable.chunk(chunks(place), 0, region)).isEqualTo(place);
  }

  @Test
  void recordsOfAnotherTypeAreNone() {
    ByteBuffer chunk = chunks(place(object, 3, 17));
    assertThat(RegionTable.chunk(header(), 0, region)).isNull();
    assertThat(RegionTable.header(chunk)).isNull();
  }

  @Test
  void objectsAreToldApartEvenIfOneComesAfterTheOther() {
    Place[] places = {
      place(object, 0, 0), place(object(200_001), 0, 0), place(object, 0, 0),
    };
    ByteBuffer bytes = chunks(places);
    for (int i = 0; i < places.length; i++) {
      assertThat(RegionTable.chunk(bytes, i * RegionTable.RECORD_BYTES, region))
          .isEqualTo(places[i]);
    }
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
    return RegionTable.chunk(chunks(place(object, chunk, slot)), 0, region) != null;
  }

  @Test
  void everyFlipInALayoutIsFound() {
    Layout layout = Layout.of(100 << 20, 64, CacheKey.random());
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
      Layout layout = Layout.of(mib << 20, 64, null);
      assertThat(layout.capacityBytes())
          .isLessThanOrEqualTo(mib << 20)
          .isGreaterThan((mib << 20) / 100 * 94);
      assertThat(Layout.decode(layout.encode())).isEqualTo(layout);
    }
    assertThat(Layout.of(10L << 30, 64, null).regions()).isEqualTo(64);
    assertThat(Layout.of(16 << 20, 64, null).regions()).isEqualTo(16);
  }
}
