// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.core;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * A stream that knows nothing of Hadoop, as Hadoop sees streams: what every input stream can do.
 * Owns the stream; threads and closing as there.
 */
public abstract class WrappedStream extends FSInputStream implements StreamCapabilities {
  private final InputStream in;

  protected WrappedStream(InputStream in) {
    this.in = in;
  }

  @Override
  public final int read() throws IOException {
    return in.read();
  }

  @Override
  public final int read(byte[] buffer, int offset, int length) throws IOException {
    return in.read(buffer, offset, length);
  }

  @Override
  public final boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public final int available() throws IOException {
    return in.available();
  }

  @Override
  public final void close() throws IOException {
    in.close();
  }
}
