// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.Region.Place;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.zip.CRC32C;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * Seals chunks, and tells whether bytes are the ones that were sealed: by a CRC32C over the
 * object's hash, the number of the chunk and its bytes, which finds what goes wrong by chance; or,
 * where the cache is encrypted, by AES-256-GCM under the key of the region, which finds also what
 * somebody has changed on purpose. The seal, 16 bytes in two words, stands in the index and not
 * with the bytes. One thread.
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

  /**
   * Seals a chunk.
   *
   * @param plain its bytes, from position to limit; left as they are
   * @param target takes what is to be stored, as long as the chunk, and at most {@value
   *     #WORK_BYTES} bytes behind that which say nothing
   */
  Place seal(
      Region to, StoredObject object, int chunk, int slot, ByteBuffer plain, ByteBuffer target) {
    SecretKey key = to.key;
    int start = target.position();
    int length = plain.remaining();
    if (key == null) {
      target.put(start, plain, plain.position(), length);
      long sum = sum(object, chunk, target.slice(start, length));
      return new Place(object, chunk, to, slot, sum, 0);
    }
    try {
      init(Cipher.ENCRYPT_MODE, key, object, chunk, slot).doFinal(plain.duplicate(), target);
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
    target.position(start);
    int behind = start + length;
    return new Place(
        object, chunk, to, slot, target.getLong(behind), target.getLong(behind + Long.BYTES));
  }

  /**
   * Verifies a chunk and makes it readable.
   *
   * @param place as it was sealed for
   * @param stored its bytes as they were read, from position to limit
   * @param work at least as long as the chunk, where there is a key
   * @return its bytes, from position to limit: {@code stored} or {@code work}; null if they are not
   *     what was sealed for it
   */
  @Nullable ByteBuffer open(Place place, ByteBuffer stored, ByteBuffer work) {
    SecretKey key = place.region().key;
    if (key == null) {
      long sum = sum(place.object(), place.chunk(), stored);
      return sum == place.sealHigh() && place.sealLow() == 0 ? stored : null;
    }
    tag.clear().putLong(place.sealHigh()).putLong(place.sealLow()).flip();
    work.clear();
    try {
      Cipher opening = init(Cipher.DECRYPT_MODE, key, place.object(), place.chunk(), place.slot());
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

  private Cipher init(int mode, SecretKey key, StoredObject object, int chunk, int slot)
      throws GeneralSecurityException {
    Cipher made = cipher;
    if (made == null) {
      made = Cipher.getInstance("AES/GCM/NoPadding");
      cipher = made;
    }
    // A slot is written once in a region, whose key is used for nothing else.
    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putInt(NONCE_BYTES - 4, slot).array();
    made.init(mode, key, new GCMParameterSpec(WORK_BYTES * Byte.SIZE, nonce));
    made.updateAAD(identityOf(object, chunk).array());
    return made;
  }

  private static IllegalStateException unavailable(GeneralSecurityException e) {
    return new IllegalStateException("this JVM cannot do AES-256-GCM", e);
  }
}
