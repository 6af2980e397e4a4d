package io.s3e.bench;

import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * An object of the user's own, read only. Its first bytes are fetched once through S3A's classic
 * stream, and that is what every engine's bytes are compared with. Nobody counts the server's side.
 */
final class UserTarget implements Target {

  private static final int COPY_BYTES = 1 << 20;
  private static final int MOST_COLUMNS = 4;

  private final Map<String, String> hadoop;
  private final @Nullable Path reference;
  private final ObjectSlice object;
  private final List<String> columns;

  private UserTarget(
      ObjectSlice object,
      Map<String, String> hadoop,
      @Nullable Path reference,
      List<String> columns) {
    this.object = object;
    this.hadoop = hadoop;
    this.reference = reference;
    this.columns = columns;
  }

  /**
   * Looks at the object and fetches what later reads are compared with.
   *
   * @throws IOException when it cannot be read, or is empty
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
      long length = s3a.getFileStatus(path).getLen();
      if (length == 0) {
        throw new IOException(uri + " is empty: there is nothing to read");
      }
      ObjectSlice object = ObjectSlice.front(uri, Math.min(length, options.bytes()));
      Path reference = null;
      if (options.workloads().stream().anyMatch(workload -> !workload.readsParquet())) {
        reference = directory.data().resolve("reference");
        fetch(s3a, path, reference, object.length(), progress);
      }
      return new UserTarget(object, hadoop, reference, columns(path, configuration));
    }
  }

  private static void fetch(
      FileSystem s3a,
      org.apache.hadoop.fs.Path path,
      Path reference,
      long length,
      Progress progress)
      throws IOException {
    byte[] buffer = new byte[COPY_BYTES];
    try (Progress.Bar bar = progress.bytes("fetch for comparison", length);
        FSDataInputStream in = s3a.open(path);
        OutputStream out = Files.newOutputStream(reference)) {
      for (long done = 0; done < length; ) {
        int piece = (int) Math.min(buffer.length, length - done);
        in.readFully(buffer, 0, piece);
        out.write(buffer, 0, piece);
        done += piece;
        bar.at(done);
      }
    }
  }

  /** The first columns of a Parquet file; none for any other object. */
  private static List<String> columns(org.apache.hadoop.fs.Path path, Configuration configuration)
      throws IOException {
    if (!path.getName().endsWith(".parquet")) {
      return List.of();
    }
    try (ParquetFileReader reader =
        ParquetFileReader.open(HadoopInputFile.fromPath(path, configuration))) {
      return reader.getFileMetaData().getSchema().getFields().stream()
          .filter(Type::isPrimitive)
          .map(Type::getName)
          .limit(MOST_COLUMNS)
          .toList();
    }
  }

  @Override
  public String description() {
    return object.uri() + ", compared with what S3A's classic stream returned first";
  }

  @Override
  public Map<String, String> hadoop() {
    return hadoop;
  }

  @Override
  public List<String> jvmOptions() {
    return List.of();
  }

  @Override
  public @Nullable Subject subject(WorkloadKind workload) {
    if (workload.readsParquet()) {
      return columns.isEmpty() ? null : new Subject(List.of(object), null, null, columns, null);
    }
    List<ObjectSlice> objects = objects(workload);
    return reference == null || objects.isEmpty()
        ? null
        : new Subject(objects, null, reference.toString(), List.of(), null);
  }

  /** Streams at once read ranges of the one object, like the tasks of a job its splits. */
  private List<ObjectSlice> objects(WorkloadKind workload) {
    return switch (workload.data()) {
      case TEXT -> List.of(object);
      case STREAMS -> ObjectLayout.ranges(object.uri(), workload.streams(), object.length());
      case SMALL, PARQUET -> List.of();
    };
  }

  @Override
  public @Nullable ServerStats serverStats() {
    return null;
  }

  @Override
  public void close() {
    // The object stays as it is, and the local copy goes with the run's directory.
  }
}
