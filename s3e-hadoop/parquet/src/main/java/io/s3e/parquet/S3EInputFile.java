// SPDX-License-Identifier: Apache-2.0
package io.s3e.parquet;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.stream.S3EInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;

/**
 * An object as a file of parquet-java. All of its streams read one version: the one that {@code
 * options} name, else the one that the store told first. A stream that finds another fails with an
 * {@link ObjectChangedException}.
 *
 * <p>A HEAD asks for the length where {@code options} do not tell it: once, at the first call of
 * either method. The engine is the caller's to close, after the streams. Any thread.
 */
public final class S3EInputFile implements InputFile {
  private final S3E engine;
  private final ObjectRef object;

  /** With the length and version, as soon as they are known. Guarded by this. */
  private OpenOptions options;

  private S3EInputFile(S3E engine, ObjectRef object, OpenOptions options) {
    this.engine = engine;
    this.object = object;
    this.options = options;
  }

  /** A file of unknown length. Sends nothing. */
  public static S3EInputFile of(S3E engine, ObjectRef object) {
    return of(engine, object, OpenOptions.DEFAULTS);
  }

  /**
   * As above.
   *
   * @param options how each stream is opened; a length that the caller knows spares the HEAD
   */
  public static S3EInputFile of(S3E engine, ObjectRef object, OpenOptions options) {
    return new S3EInputFile(engine, object, options);
  }

  /**
   * Length of the object in bytes.
   *
   * @throws FileNotFoundException if there is no such object
   */
  @Override
  public long getLength() throws IOException {
    return known().size();
  }

  /**
   * Opens the object; no byte is fetched before the first read.
   *
   * @throws FileNotFoundException if there is no such object and the length had to be asked for;
   *     otherwise the first read throws it
   */
  @Override
  public SeekableInputStream newStream() throws IOException {
    return new S3ESeekableInputStream(this, engine.open(object, known()));
  }

  /** How a stream is opened. */
  private synchronized OpenOptions known() throws IOException {
    if (options.size() < 0) {
      try (S3EInputStream asked = engine.open(object, options)) {
        options = options.withSize(asked.size()).withVersion(asked.etag(), options.versionId());
      }
    }
    return options;
  }

  /**
   * Hears which version a stream reads; later ones open that. Does not wait: streams are opened
   * once the length is known.
   *
   * @throws ObjectChangedException if another stream of this file reads another version
   */
  synchronized void reads(String etag) throws ObjectChangedException {
    String first = options.etag();
    if (first == null) {
      options = options.withVersion(etag, options.versionId());
    } else if (!first.equals(etag)) {
      throw new ObjectChangedException(
          "Object changed between two streams: " + object + " was " + first + ", now " + etag,
          null);
    }
  }

  @Override
  public String toString() {
    return object.toString();
  }
}
