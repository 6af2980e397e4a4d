// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;

/** One way of reading. An instance serves one run. */
interface Workload {

  /**
   * Does what an application has done before it reads, such as a listing. Not timed.
   *
   * @throws Exception any exception of the file system: the run has failed
   */
  default void prepare(RunContext context) throws Exception {}

  /**
   * Reads, checks and closes everything that it opened.
   *
   * @return checksum of what was read, for workloads whose bytes have no place in a reference file;
   *     0 for the others
   * @throws WrongBytesException when the file system returned something else than the object holds
   * @throws Exception any exception of the file system: the run has failed
   */
  long run(RunContext context) throws Exception;

  /**
   * What {@link #run} must return, if its bytes have no place in a reference file.
   *
   * @param file a local copy of what it reads
   * @param columns those that it is told to read
   */
  default long checksum(Path file, List<String> columns) throws IOException {
    throw new UnsupportedOperationException("It compares bytes with those of a reference file");
  }

  /**
   * The same of a file of which nobody has a copy.
   *
   * @param fileSystem that reads it rightly
   * @param columns those that it is told to read
   */
  default long checksum(FileSystem fileSystem, org.apache.hadoop.fs.Path file, List<String> columns)
      throws IOException {
    throw new UnsupportedOperationException("It reads nothing but files of which there is a copy");
  }
}
