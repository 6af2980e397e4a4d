// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import org.apache.iceberg.encryption.NativeFileCryptoParameters;
import org.apache.iceberg.encryption.NativelyEncryptedFile;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A file that {@link S3EFileIO} opens, over the one of {@code S3FileIO}, which asks for its length
 * and whether it exists. For one thread at a time.
 */
final class S3EInputFile implements InputFile, NativelyEncryptedFile {
  private final S3EFileIO io;
  private final InputFile own;
  private @Nullable NativeFileCryptoParameters crypto;

  /** 0 as long as nobody has told it or asked for it, and of an empty file. */
  private long length;

  /**
   * @param length in bytes; 0 or less if nobody knows
   */
  S3EInputFile(S3EFileIO io, InputFile own, long length) {
    this.io = io;
    this.own = own;
    this.length = Math.max(0, length);
  }

  @Override
  public long getLength() {
    if (length == 0) {
      length = own.getLength();
    }
    return length;
  }

  @Override
  public SeekableInputStream newStream() {
    SeekableInputStream stream = length == 0 ? null : io.open(this, own.location(), length);
    return stream == null ? own.newStream() : stream;
  }

  @Override
  public String location() {
    return own.location();
  }

  @Override
  public boolean exists() {
    return own.exists();
  }

  @Override
  public @Nullable NativeFileCryptoParameters nativeCryptoParameters() {
    return crypto;
  }

  @Override
  public void setNativeCryptoParameters(@Nullable NativeFileCryptoParameters parameters) {
    crypto = parameters;
  }

  @Override
  public String toString() {
    return own.toString();
  }
}
