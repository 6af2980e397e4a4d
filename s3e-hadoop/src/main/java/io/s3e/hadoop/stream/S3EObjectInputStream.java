// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.client.ReadEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.s3a.S3ObjectAttributes;
import org.apache.hadoop.fs.s3a.impl.streams.InputStreamType;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectInputStream;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectReadParameters;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.jspecify.annotations.Nullable;

/**
 * The stream SPI's view of {@link S3EHadoopInputStream}, which does all of the work, including the
 * end of life: the superclass's close and finalizer would do it a second time and are replaced.
 */
public final class S3EObjectInputStream extends ObjectInputStream
    implements S3EReadable,
        ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanSetReadahead,
        CanUnbuffer {
  private final S3EHadoopInputStream stream;

  public S3EObjectInputStream(ObjectReadParameters parameters, ReadEngine engine) {
    super(InputStreamType.Custom, parameters);
    stream = new S3EHadoopInputStream(source(parameters), engine);
  }

  private static StreamSource source(ObjectReadParameters parameters) {
    S3ObjectAttributes attributes = parameters.getObjectAttributes();
    return new StreamSource(
        new ObjectRef(attributes.getBucket(), attributes.getKey()),
        // The bucket may be the ARN of an access point.
        attributes.getPath().toString(),
        attributes.getLen(),
        attributes.getETag(),
        attributes.getVersionId(),
        parameters.getContext(),
        parameters.getStreamStatistics(),
        new SpiStreamRequests(parameters));
  }

  @Override
  public void attach(ReadEngine engine, Opening opening) {
    stream.attach(engine, opening);
  }

  @Override
  protected boolean isStreamOpen() {
    return stream.isOpen();
  }

  /** Never called: {@link LeakReport} watches the inner stream. */
  @Override
  protected void abortInFinalizer() {
    throw new UnsupportedOperationException("leaks are reported by " + LeakReport.class);
  }

  /** Empty, so that the JVM does not queue this object for finalization. */
  @Override
  @SuppressWarnings({"deprecation", "removal", "Finalize"})
  protected void finalize() {}

  /** Does the work of the superclass's close once, for the first caller. */
  @Override
  public void close() throws IOException {
    stream.close();
  }

  @Override
  public long getPos() {
    return stream.getPos();
  }

  @Override
  public void seek(long target) throws IOException {
    stream.seek(target);
  }

  @Override
  public boolean seekToNewSource(long target) {
    return stream.seekToNewSource(target);
  }

  @Override
  public long skip(long count) throws IOException {
    return stream.skip(count);
  }

  @Override
  public int available() throws IOException {
    return stream.available();
  }

  @Override
  public int read() throws IOException {
    return stream.read();
  }

  @Override
  public int read(byte[] buffer, int offset, int count) throws IOException {
    return stream.read(buffer, offset, count);
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    return stream.read(buffer);
  }

  @Override
  public int read(long from, byte[] buffer, int offset, int count) throws IOException {
    return stream.read(from, buffer, offset, count);
  }

  @Override
  public int read(long from, ByteBuffer buffer) throws IOException {
    return stream.read(from, buffer);
  }

  @Override
  public void readFully(long from, byte[] buffer, int offset, int count) throws IOException {
    stream.readFully(from, buffer, offset, count);
  }

  @Override
  public void readFully(long from, ByteBuffer buffer) throws IOException {
    stream.readFully(from, buffer);
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    stream.readVectored(ranges, allocate);
  }

  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    stream.readVectored(ranges, allocate, release);
  }

  @Override
  public void unbuffer() {
    stream.unbuffer();
  }

  @Override
  public void setReadahead(@Nullable Long readahead) {
    stream.setReadahead(readahead);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return stream.getIOStatistics();
  }

  @Override
  public boolean hasCapability(String capability) {
    return stream.hasCapability(capability) || super.hasCapability(capability);
  }

  @Override
  public String toString() {
    return stream.toString();
  }
}
