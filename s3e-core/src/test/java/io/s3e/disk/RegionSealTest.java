// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.Region.Place;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RegionSealTest {
  private static final int CHUNK = StoredObject.CHUNK_BYTES;
  private static final int SLOT = 7;

  /** Its second chunk is short, so that each of its bits can be tried. */
  private final StoredObject object = StoredBytes.object("key", CHUNK + 300);

  private final CacheKey key = CacheKey.random();
  private final RegionSeal seal = new RegionSeal();
  private final ByteBuffer work = ByteBuffer.allocateDirect(CHUNK + RegionSeal.WORK_BYTES);
  private final ByteBuffer opened = ByteBuffer.allocateDirect(CHUNK);

  private static Region region(@Nullable CacheKey with) {
    return StoredBytes.region(0, Region.LEAST_BYTES, 10, with);
  }

  /** As it was sealed last. */
  private Place sealed = place(null, object, 0, 0, 0, 0);

  private Place place(
      @Nullable CacheKey with, StoredObject of, int chunk, int slot, long high, long low) {
    return new Place(of, chunk, region(with), slot, high, low);
  }

  private @Nullable ByteBuffer open(
      @Nullable CacheKey with, StoredObject of, int chunk, int slot, ByteBuffer stored) {
    Place place = place(with, of, chunk, slot, sealed.sealHigh(), sealed.sealLow());
    return seal.open(place, stored, opened);
  }

  private ByteBuffer seal(@Nullable CacheKey with, int chunk) {
    ByteBuffer plain = ByteBuffer.wrap(StoredBytes.of(object, chunk));
    sealed = seal.seal(region(with), object, chunk, SLOT + chunk, plain, work.clear());
    return work.slice(0, plain.remaining());
  }

  private void requireOnlyWhatWasSealed(@Nullable CacheKey with) {
    for (int chunk = 0; chunk < 2; chunk++) {
      ByteBuffer stored = seal(with, chunk);
      assertThat(stored.remaining()).isEqualTo(object.chunkLength(chunk));
      ByteBuffer bytes = open(with, object, chunk, SLOT + chunk, stored.duplicate());
      assertThat(bytes).isNotNull();
      StoredBytes.require(object, chunk, bytes);

      assertThat(open(with, object, 1 - chunk, SLOT + chunk, stored.duplicate())).isNull();
      StoredObject other = StoredBytes.object("other", object.size());
      assertThat(open(with, other, chunk, SLOT + chunk, stored.duplicate())).isNull();
      ByteBuffer shorter = stored.duplicate().limit(stored.limit() - 1);
      assertThat(open(with, object, chunk, SLOT + chunk, shorter)).isNull();
    }
  }

  private void requireNoBitFlipped(@Nullable CacheKey with) {
    ByteBuffer stored = seal(with, 1);
    for (int bit = 0; bit < stored.remaining() * Byte.SIZE; bit++) {
      int at = stored.position() + bit / Byte.SIZE;
      byte flipped = (byte) (stored.get(at) ^ 1 << bit % Byte.SIZE);
      byte before = stored.get(at);
      stored.put(at, flipped);
      assertThat(open(with, object, 1, SLOT + 1, stored.duplicate())).as("bit %d", bit).isNull();
      stored.put(at, before);
    }
    for (int bit = 0; bit < Long.SIZE; bit++) {
      long mask = 1L << bit;
      for (Place place :
          new Place[] {
            place(with, object, 1, SLOT + 1, sealed.sealHigh() ^ mask, sealed.sealLow()),
            place(with, object, 1, SLOT + 1, sealed.sealHigh(), sealed.sealLow() ^ mask)
          }) {
        assertThat(seal.open(place, stored.duplicate(), opened))
            .as("bit %d of the seal", bit)
            .isNull();
      }
    }
    assertThat(open(with, object, 1, SLOT + 1, stored)).isNotNull();
  }

  @Test
  void aPlainChunkOpensForItselfAlone() {
    requireOnlyWhatWasSealed(null);
  }

  @Test
  void anEncryptedChunkOpensForItselfAlone() {
    requireOnlyWhatWasSealed(key);
  }

  @Test
  void everyFlippedBitOfAPlainChunkIsFound() {
    requireNoBitFlipped(null);
  }

  @Test
  void everyFlippedBitOfAnEncryptedChunkIsFound() {
    requireNoBitFlipped(key);
  }

  @Test
  void anEncryptedChunkOpensInItsSlotAndUnderItsKeyAlone() {
    ByteBuffer stored = seal(key, 1);

    assertThat(open(key, object, 1, SLOT + 1, stored.duplicate())).isNotNull();
    assertThat(open(key, object, 1, SLOT + 2, stored.duplicate())).isNull();
    assertThat(open(CacheKey.random(), object, 1, SLOT + 1, stored.duplicate())).isNull();
    assertThat(open(null, object, 1, SLOT + 1, stored.duplicate())).isNull();
  }

  private Region salted(byte[] salt) {
    return StoredBytes.region(0, Region.LEAST_BYTES, 10, ByteBuffer.wrap(salt.clone()), key);
  }

  private @Nullable ByteBuffer open(Place place, Region in, ByteBuffer stored) {
    Place there = new Place(object, 1, in, SLOT, place.sealHigh(), place.sealLow());
    return seal.open(there, stored.duplicate(), opened);
  }

  @Test
  void oneSecretGivesEachSaltAKeyOfItsOwn() {
    byte[] salt = new byte[CacheKey.SALT_BYTES];
    ByteBuffer plain = ByteBuffer.wrap(StoredBytes.of(object, 1));
    Place first = seal.seal(salted(salt), object, 1, SLOT, plain, work.clear());
    ByteBuffer stored = work.slice(0, plain.remaining());
    assertThat(open(first, salted(salt), stored)).isNotNull();

    salt[3]++;
    assertThat(open(first, salted(salt), stored)).isNull();
  }

  @Test
  void anEncryptedChunkShowsNothingOfItsBytes() {
    // A whole one: of the few bytes of the last, four in 256 are the same once in fifty runs.
    ByteBuffer stored = seal(key, 0);
    byte[] plain = StoredBytes.of(object, 0);
    assertThat(plain).hasSize(StoredObject.CHUNK_BYTES);

    long same = IntStream.range(0, plain.length).filter(at -> stored.get(at) == plain[at]).count();
    assertThat(same).as("one byte in 256 is the same by chance").isLessThan(plain.length / 64);
  }

  @Test
  void thePlainBytesAreLeftAsTheyAre() {
    for (CacheKey with : new CacheKey[] {null, key}) {
      ByteBuffer plain = ByteBuffer.wrap(StoredBytes.of(object, 1));
      Place unused = seal.seal(region(with), object, 1, SLOT, plain, work.clear());
      StoredBytes.require(object, 1, plain);
    }
  }

  @Test
  void aPlainSealIsNeverNone() {
    for (int i = 0; i < 100; i++) {
      StoredObject each = StoredBytes.object("key " + i, 10);
      Place place = seal.seal(region(null), each, 0, 0, ByteBuffer.allocate(10), work.clear());
      assertThat(place.sealHigh()).isNotZero();
    }
  }
}
