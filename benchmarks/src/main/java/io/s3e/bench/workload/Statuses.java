// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Where an application has the status of a file from. An instance serves one run; threads may share
 * it after {@link #prepare}.
 */
interface Statuses {

  /** Does what the application has done before it reads. Not timed. */
  void prepare(RunContext context) throws IOException;

  /** The status of a file that is going to be opened. */
  FileStatus of(FileSystem fileSystem, Path path) throws IOException;

  /** Asks for each file, as it is opened. */
  static Statuses asked() {
    return new Statuses() {
      @Override
      public void prepare(RunContext context) {
        // Nothing is known before.
      }

      @Override
      public FileStatus of(FileSystem fileSystem, Path path) throws IOException {
        return fileSystem.getFileStatus(path);
      }
    };
  }

  /** Has listed the directories of all objects of the run, as a job of MapReduce or Spark has. */
  static Statuses listed() {
    Map<Path, FileStatus> listed = new HashMap<>();
    return new Statuses() {
      @Override
      public void prepare(RunContext context) throws IOException {
        List<Path> directories =
            context.objects().stream()
                .map(object -> new Path(object.uri()).getParent())
                .distinct()
                .toList();
        for (Path directory : directories) {
          context.monitor().begin("list of " + directory);
          try {
            for (FileStatus status : context.fileSystem().listStatus(directory)) {
              listed.put(status.getPath(), status);
            }
          } finally {
            context.monitor().end();
          }
        }
      }

      @Override
      public FileStatus of(FileSystem fileSystem, Path path) throws IOException {
        FileStatus status = listed.get(path);
        if (status == null) {
          throw new FileNotFoundException(path + " was not in the listing");
        }
        return status;
      }
    };
  }
}
