// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * An object of the user's own, or the objects below a prefix, read only. The bytes for the
 * workloads are fetched once through S3A's classic stream, and every engine's bytes are compared
 * with those; so is what engines decode with what is decoded of that stream's bytes. Nobody counts
 * the server's side.
 */
final class UserTarget implements Target {

  private static final int COPY_BYTES = 1 << 20;
  private static final int MOST_COLUMNS = 4;

  /** A prefix may hold millions; the first of them in the order of their names are enough. */
  private static final int MOST_OBJECTS_LISTED = 10_000;

  private final String uri;
  private final JobOptions options;
  private final Map<String, String> hadoop;
  private final UserObjects objects;
  private final Path reference;
  private final List<String> columns;
  private final @Nullable Long checksum;

  private UserTarget(
      String uri,
      JobOptions options,
      Map<String, String> hadoop,
      UserObjects objects,
      Path reference,
      List<String> columns,
      @Nullable Long checksum) {
    this.uri = uri;
    this.options = options;
    this.hadoop = hadoop;
    this.objects = objects;
    this.reference = reference;
    this.columns = columns;
    this.checksum = checksum;
  }

  /**
   * Looks at the objects and fetches what later reads are compared with.
   *
   * @param uri an object, or a prefix with a slash at its end
   * @throws IOException when they cannot be read, or there is nothing in them
   */
  static UserTarget open(String uri, JobOptions options, RunDirectory directory, Progress progress)
      throws IOException {
    Map<String, String> hadoop = Map.of("hadoop.tmp.dir", directory.tmp().toString());
    Configuration configuration = new Configuration();
    hadoop.forEach(configuration::set);
    options.hadoop().forEach(configuration::set);
    Engine.of("classic", Map.of()).settings().forEach(configuration::set);
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(uri);
    try (FileSystem s3a = FileSystem.get(path.toUri(), configuration)) {
      List<UserObjects.Found> found = uri.endsWith("/") ? list(s3a, path) : find(s3a, path);
      if (found.isEmpty()) {
        throw new IOException(uri + " is empty: there is nothing to read");
      }
      UserObjects objects = new UserObjects(found, options.workloads(), options.sizes());
      Path reference = directory.data().resolve("reference");
      fetch(s3a, objects.regions(), reference, progress);
      List<String> columns = List.of();
      if (options.workloads().stream().anyMatch(WorkloadKind::readsColumns)) {
        columns = columns(objects.parquet(), configuration);
      }
      Long checksum = columns.isEmpty() ? null : checksum(s3a, objects, columns, options);
      return new UserTarget(uri, options, hadoop, objects, reference, columns, checksum);
    }
  }

  private static List<UserObjects.Found> find(FileSystem s3a, org.apache.hadoop.fs.Path path)
      throws IOException {
    return found(List.of(s3a.getFileStatus(path)));
  }

  private static List<UserObjects.Found> list(FileSystem s3a, org.apache.hadoop.fs.Path path)
      throws IOException {
    List<FileStatus> files = new ArrayList<>();
    RemoteIterator<LocatedFileStatus> listing = s3a.listFiles(path, true);
    while (files.size() < MOST_OBJECTS_LISTED && listing.hasNext()) {
      files.add(listing.next());
    }
    return found(files);
  }

  private static List<UserObjects.Found> found(List<FileStatus> files) {
    return files.stream()
        .filter(file -> file.isFile() && file.getLen() > 0)
        .map(file -> new UserObjects.Found(file.getPath().toString(), file.getLen()))
        .toList();
  }

  private static void fetch(
      FileSystem s3a, List<ObjectSlice> regions, Path reference, Progress progress)
      throws IOException {
    byte[] buffer = new byte[COPY_BYTES];
    long bytes = regions.stream().mapToLong(ObjectSlice::length).sum();
    long fetched = 0;
    try (Progress.Bar bar = progress.bytes("fetch for comparison", bytes);
        OutputStream out = Files.newOutputStream(reference)) {
      for (ObjectSlice region : regions) {
        try (FSDataInputStream in = s3a.open(new org.apache.hadoop.fs.Path(region.uri()))) {
          for (long left = region.length(); left > 0; ) {
            int piece = (int) Math.min(buffer.length, left);
            in.readFully(buffer, 0, piece);
            out.write(buffer, 0, piece);
            left -= piece;
            fetched += piece;
            bar.at(fetched);
          }
        }
      }
    }
  }

  /** The first columns of a Parquet file; none if there is no file. */
  private static List<String> columns(List<ObjectSlice> files, Configuration configuration)
      throws IOException {
    if (files.isEmpty()) {
      return List.of();
    }
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(files.get(0).uri());
    try (ParquetFileReader reader =
        ParquetFileReader.open(HadoopInputFile.fromPath(path, configuration))) {
      return reader.getFileMetaData().getSchema().getFields().stream()
          .filter(Type::isPrimitive)
          .map(Type::getName)
          .limit(MOST_COLUMNS)
          .toList();
    }
  }

  /**
   * What the workload that decodes a file must find in it; null where none of them is asked for.
   */
  private static @Nullable Long checksum(
      FileSystem s3a, UserObjects objects, List<String> columns, JobOptions options)
      throws IOException {
    for (WorkloadKind workload : options.workloads()) {
      // All of these decode the same, once or several times.
      if (workload.data() == WorkloadKind.Data.PARQUET) {
        String file = objects.parquet().get(0).uri();
        return workload.checksum(s3a, new org.apache.hadoop.fs.Path(file), columns);
      }
    }
    return null;
  }

  @Override
  public String description() {
    String leftOut =
        options.workloads().stream()
            .filter(workload -> subject(workload) == null)
            .map(WorkloadKind::label)
            .collect(Collectors.joining(", "));
    return uri
        + ", compared with what S3A's classic stream returned first"
        + (leftOut.isEmpty() ? "" : "; nothing here to read for " + leftOut);
  }

  @Override
  public Map<String, String> hadoop() {
    return hadoop;
  }

  @Override
  public @Nullable Subject subject(WorkloadKind workload) {
    if (workload.data() == WorkloadKind.Data.PARQUET) {
      return columns.isEmpty()
          ? null
          : new Subject(objects.parquet(), null, null, columns, checksum);
    }
    List<ObjectSlice> slices = objects.of(workload);
    return slices.isEmpty()
        ? null
        : new Subject(
            slices,
            null,
            reference.toString(),
            workload.readsColumns() ? columns : List.of(),
            null);
  }

  @Override
  public Subject unread(Subject subject) {
    return subject;
  }

  @Override
  public void close() {
    // The objects stay as they are, and the local copy goes with the run's directory.
  }
}
