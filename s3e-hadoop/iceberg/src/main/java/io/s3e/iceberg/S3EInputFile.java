// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import java.util.List;
import java.util.Locale;
import org.apache.iceberg.encryption.NativeFileCryptoParameters;
import org.apache.iceberg.encryption.NativelyEncryptedFile;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that {@link S3EFileIO} opens, over the one of {@code S3FileIO}, which asks for its length
 * and whether it exists. For one thread at a time.
 */
final class S3EInputFile implements InputFile, NativelyEncryptedFile {
  private static final Logger LOG = LoggerFactory.getLogger(S3EInputFile.class);

  /**
   * Ends of the names of files whose readers open a stream and ask for the length right afterwards.
   * Not of Puffin: its reader asks before it opens, and readers of deletion vectors never ask.
   */
  private static final List<String> MEASURED = List.of(".parquet", ".avro", ".orc");

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
    if (length == 0 && isMeasured()) {
      measure();
    }
    SeekableInputStream stream = length == 0 ? null : io.open(this, own.location(), length);
    return stream == null ? own.newStream() : stream;
  }

  /** Whether S3E would read the file, and its reader asks for the length in any case. */
  private boolean isMeasured() {
    String name = own.location().toLowerCase(Locale.ROOT);
    return MEASURED.stream().anyMatch(name::endsWith) && io.reads(own.location());
  }

  /** Sends the HEAD of the reader before it does: Iceberg's file keeps the answer. */
  private void measure() {
    try {
      length = own.getLength();
    } catch (RuntimeException e) {
      // The reader gets the failure by Iceberg's stream, and so as Iceberg tells it.
      LOG.debug("{} is read by S3FileIO's stream, since nobody tells its length", this, e);
    }
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
