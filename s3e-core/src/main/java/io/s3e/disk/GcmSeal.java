package io.s3e.disk;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Seals by AES-256-GCM under a key that only one file has: chunks are encrypted, the header is
 * authenticated. Finds also what somebody has changed on purpose.
 *
 * <p>Nonces are counters, which is safe because the key is never used for another file: the number
 * of the chunk for a chunk, {@link #HEADER} for the header. A file is never changed once it is
 * written, so none is used for two contents.
 */
final class GcmSeal implements ChunkSeal {
  private static final int NONCE_BYTES = 12;

  /** Nonce of the header; no chunk has this number. */
  private static final int HEADER = -1;

  private final SecretKey fileKey;
  private final Cipher cipher;
  private final ByteBuffer nothing = ByteBuffer.allocate(0);

  GcmSeal(SecretKey fileKey) {
    this.fileKey = fileKey;
    try {
      this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  @Override
  public ByteBuffer sealChunk(
      int chunk, ByteBuffer plain, ByteBuffer work, ByteBuffer seals, int at) {
    int length = plain.remaining();
    try {
      init(Cipher.ENCRYPT_MODE, chunk);
      work.clear();
      cipher.doFinal(plain.duplicate(), work);
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
    seals.put(at, work, length, BYTES);
    return work.position(0).limit(length);
  }

  @Override
  @SuppressWarnings("UnusedException") // The cause says less than the exception, and costs a stack.
  public ByteBuffer openChunk(
      int chunk, ByteBuffer stored, ByteBuffer work, ByteBuffer seals, int at)
      throws BrokenSealException {
    int length = stored.limit();
    stored.limit(length + BYTES).put(length, seals, at, BYTES).position(0);
    work.clear();
    try {
      init(Cipher.DECRYPT_MODE, chunk);
      cipher.doFinal(stored, work);
    } catch (AEADBadTagException e) {
      throw new BrokenSealException("chunk " + chunk + " is not authentic");
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
    return work.flip();
  }

  @Override
  public void sealHeader(ByteBuffer header, int at) {
    ByteBuffer seal = ByteBuffer.allocate(BYTES);
    try {
      init(Cipher.ENCRYPT_MODE, HEADER);
      authenticate(header, at);
      cipher.doFinal(nothing, seal);
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
    header.put(at, seal, 0, BYTES);
  }

  @Override
  @SuppressWarnings("UnusedException")
  public void verifyHeader(ByteBuffer header, int at) throws BrokenSealException {
    try {
      init(Cipher.DECRYPT_MODE, HEADER);
      authenticate(header, at);
      cipher.doFinal(header.slice(at, BYTES), nothing);
    } catch (AEADBadTagException e) {
      throw new BrokenSealException("header is not authentic, or has another key");
    } catch (GeneralSecurityException e) {
      throw unavailable(e);
    }
  }

  private void authenticate(ByteBuffer header, int at) {
    cipher.updateAAD(header.slice(0, at));
    cipher.updateAAD(header.slice(at + BYTES, header.capacity() - at - BYTES));
  }

  private void init(int mode, int number) throws GeneralSecurityException {
    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putInt(NONCE_BYTES - 4, number).array();
    cipher.init(mode, fileKey, new GCMParameterSpec(BYTES * Byte.SIZE, nonce));
  }

  private static IllegalStateException unavailable(GeneralSecurityException e) {
    return new IllegalStateException("this JVM cannot do AES-256-GCM", e);
  }
}
