// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.hadoop.open.NextFiles;
import io.s3e.hadoop.open.NextFiles.NextFile;
import java.io.IOException;
import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Local files as {@code asking:/path}; asks for the next file at each open, as S3E does. */
public final class AskingFileSystem extends RawLocalFileSystem {
  static final String SCHEME = "asking";

  /** What was told, in order. */
  static final Queue<Told> TOLD = new ConcurrentLinkedQueue<>();

  record Told(Path opened, NextFile next) {}

  @Override
  public URI getUri() {
    return URI.create(SCHEME + ":///");
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    NextFile next = NextFiles.after(path);
    if (next != null) {
      TOLD.add(new Told(path, next));
    }
    return super.open(path, bufferSize);
  }
}
