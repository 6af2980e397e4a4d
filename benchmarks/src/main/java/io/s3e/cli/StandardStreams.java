// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.bench.Progress;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.channels.WritableByteChannel;

/**
 * The streams that a command reads and writes. A command closes none of them.
 *
 * @param in data to upload
 * @param out results or the bytes of objects, never both
 * @param err progress and failures
 * @param errIsTerminal whether somebody watches {@code err}
 */
public record StandardStreams(
    InputStream in, OutputStream out, PrintStream err, boolean errIsTerminal) {

  /** Those of this process, without buffers between. */
  static StandardStreams ofProcess() {
    return new StandardStreams(
        new FileInputStream(FileDescriptor.in),
        new FileOutputStream(FileDescriptor.out),
        System.err,
        Progress.isTerminal());
  }

  /** Standard output for the bytes of objects. */
  WritableByteChannel dataOut() {
    return new StandardOutput(out);
  }
}
