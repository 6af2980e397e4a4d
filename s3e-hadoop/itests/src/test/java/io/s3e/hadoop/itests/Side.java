// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import java.util.List;

/** The two file systems that the same tests run with. */
enum Side {
  CONTROL("S3A", "org.apache.hadoop.fs.s3a.S3AFileSystem", "org.apache.hadoop.fs.s3a.S3A"),
  SUBJECT("S3E", "io.s3e.hadoop.S3EFileSystem", "io.s3e.hadoop.S3EAbstractFileSystem");

  private final String label;
  private final String fileSystem;
  private final String abstractFileSystem;

  Side(String label, String fileSystem, String abstractFileSystem) {
    this.label = label;
    this.fileSystem = fileSystem;
    this.abstractFileSystem = abstractFileSystem;
  }

  String label() {
    return label;
  }

  /** The properties that auth-keys.xml makes the configuration of. */
  List<String> properties() {
    return List.of(
        "-Ditests.file.system=" + fileSystem,
        "-Ditests.abstract.file.system=" + abstractFileSystem);
  }
}
