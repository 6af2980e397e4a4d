// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

/**
 * Which read failed, for its exception.
 *
 * @param operation what the application called, for example {@code readFully}
 * @param path the file's URI
 * @param offset where the read began, in bytes from the file's start
 * @param bytes how many it asked for
 * @param fileBytes the file's length
 */
public record FailedRead(String operation, String path, long offset, long bytes, long fileBytes) {
  @Override
  public String toString() {
    return operation
        + " of "
        + bytes
        + " bytes at "
        + offset
        + " of "
        + path
        + " ("
        + fileBytes
        + " bytes)";
  }
}
