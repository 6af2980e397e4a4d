package io.s3e.disk;

import io.s3e.disk.ChunkIndex.Place;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.zip.CRC32C;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * Seals chunks, and tells whether bytes are the ones that were sealed: by a CRC32C over the
 * object's hash, the number of the chunk and its bytes, which finds what goes wrong by chance; or,
 * where the cache is encrypted, by AES-256-GCM under the key of the region's generation, which
 * finds also what somebody has changed on purpose. The seal, 16 bytes in two words, stands in the
 * index and not with the bytes. One thread.
 */
final class RegionSeal {
  /** Bytes that a work buffer needs beyond those of a chunk. */
  static final int WORK_BYTES = 16;

  private static final int NONCE_BYTES = 12;
  private static final int IDENTITY_BYTES = StoredObject.HASH_BYTES + Integer.BYTES;

  private final CRC32C crc = new CRC32C();
  private final ByteBuffer identity = ByteBuffer.allocate(IDENTITY_BYTES);
  private final ByteBuffer tag = ByteBuffer.allocate(WORK_BYTES);
  private @Nullable Cipher cipher;
  private long high;
  private long low;

  /** The first word of the last seal that was made. */
  long high() {
    return high;
  }

  /** The second word of the last seal that was made. */
  long low() {
    return low;
  }

  /**
   * Seals a chunk that is to stand at {@code slot}.
   *
   * @param key of the region's generation; null if the cache is not encrypted
   * @param plain its bytes, from position to limit; left as they are
   * @param place takes what is to be stored, as long as the chunk, and at most {@value #WORK_BYTES}
   *     bytes behind that which say nothing
   */
  void seal(
      @Nullable RegionKey key,
      StoredObject object,
      int chunk,
      int slot,
      ByteBuffer plain,
      ByteBuffer place) {
    int length = plain.remaining();
    if (key == null) {
      place.put(place.position(), plain, plain.position(), length);
      high = sum(object, chunk, place.slice(place.position(), length));
      low = 0;
      return;
    }
    int start = place.position();
    try {
      Cipher sealing = init(Cipher.ENCRYPT_MODE, key, object, chunk, slot);
      sealing.doFinal(plain.duplicate(), place);
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
    high = place.getLong(start + length);
    low = place.getLong(start + length + Long.BYTES);
    place.position(start);
  }

  /**
   * Verifies a chunk and makes it readable.
   *
   * @param key as it was sealed with
   * @param stored its bytes as they were read, from position to limit
   * @param work at least as long as the chunk, where there is a key
   * @return its bytes, from position to limit: {@code stored} or {@code work}; null if they are not
   *     what was sealed for it
   */
  @Nullable ByteBuffer open(
      @Nullable RegionKey key,
      StoredObject object,
      int chunk,
      Place place,
      ByteBuffer stored,
      ByteBuffer work) {
    if (key == null) {
      boolean same = sum(object, chunk, stored) == place.sealHigh() && place.sealLow() == 0;
      return same ? stored : null;
    }
    tag.clear().putLong(place.sealHigh()).putLong(place.sealLow()).flip();
    work.clear();
    try {
      Cipher opening = init(Cipher.DECRYPT_MODE, key, object, chunk, place.slot());
      int unused = opening.update(stored, work);
      opening.doFinal(tag, work);
      return work.flip();
    } catch (AEADBadTagException e) {
      return null;
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  /** Never 0, so that a seal is told from none. */
  private long sum(StoredObject object, int chunk, ByteBuffer bytes) {
    int position = bytes.position();
    crc.reset();
    crc.update(identityOf(object, chunk).array());
    crc.update(bytes);
    bytes.position(position);
    return 1L << Integer.SIZE | crc.getValue();
  }

  private ByteBuffer identityOf(StoredObject object, int chunk) {
    object.putHash(identity, 0);
    return identity.putInt(StoredObject.HASH_BYTES, chunk);
  }

  private Cipher init(int mode, RegionKey key, StoredObject object, int chunk, int slot)
      throws GeneralSecurityException {
    Cipher made = cipher;
    if (made == null) {
      made = Cipher.getInstance("AES/GCM/NoPadding");
      cipher = made;
    }
    // A slot is written once in a generation, whose key is used for nothing else.
    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putInt(NONCE_BYTES - 4, slot).array();
    made.init(mode, key.secret(), new GCMParameterSpec(WORK_BYTES * Byte.SIZE, nonce));
    made.updateAAD(identityOf(object, chunk).array());
    return made;
  }

  private static IllegalStateException unavailable(GeneralSecurityException e) {
    return new IllegalStateException("this JVM cannot do AES-256-GCM", e);
  }
}
