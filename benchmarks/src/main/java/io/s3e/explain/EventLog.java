// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The log of one application, of one file or of the parts of a rolling log.
 *
 * @param path the file, or the directory of the parts
 * @param parts the files in the order in which they were written
 */
record EventLog(Path path, List<Path> parts) {
  private static final String ROLLING = "eventlog_v2_";

  /** Spark's number of a part, which is compacted or not: a compacted one holds all before it. */
  private static final Pattern PART = Pattern.compile("events_(\\d+)_.*?(\\.compact)?");

  /** Plans have tens of millions of characters. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
              .build());

  /** Beginnings of the lines that are of use; others are not parsed. */
  private static final Pattern KNOWN =
      Pattern.compile(
          "\\{\"Event\":\"(SparkListener(LogStart|Application|Environment|Executor(Added|Removed)"
              + "|JobStart|StageCompleted|TaskEnd)"
              + "|org\\.apache\\.spark\\.sql\\.execution\\.ui\\."
              + "|io\\.s3e\\.spark\\.stages\\.SparkListenerS3EStage).*");

  /** Spark's last event; listeners may tell more after it. */
  private static final String END = "{\"Event\":\"SparkListenerApplicationEnd\"";

  /**
   * The logs at a path: a file, a rolling log, or a directory of both; local without a scheme.
   *
   * @throws IOException if there is none; its message names the path
   */
  static List<EventLog> find(Path path, Configuration conf) throws IOException {
    FileSystem files = fileSystem(path, conf);
    FileStatus status = files.getFileStatus(path);
    if (status.isFile()) {
      return List.of(new EventLog(path, List.of(path)));
    }
    if (isRolling(path)) {
      return List.of(rolling(files, path));
    }
    List<EventLog> logs = new ArrayList<>();
    FileStatus[] children = files.listStatus(path);
    Arrays.sort(children, Comparator.comparing(FileStatus::getPath));
    for (FileStatus child : children) {
      if (child.isDirectory() && isRolling(child.getPath())) {
        logs.add(listed(files, child.getPath()));
      } else if (child.isFile() && !isHidden(child.getPath())) {
        logs.add(new EventLog(child.getPath(), List.of(child.getPath())));
      }
    }
    if (logs.isEmpty()) {
      throw new FileNotFoundException(path + ": no event log in this directory");
    }
    return logs;
  }

  /** What a user names without a scheme is on this host, whatever a cluster's settings say. */
  private static FileSystem fileSystem(Path path, Configuration conf) throws IOException {
    return path.toUri().getScheme() == null ? FileSystem.getLocal(conf) : path.getFileSystem(conf);
  }

  private static boolean isRolling(Path path) {
    return path.getName().startsWith(ROLLING);
  }

  private static boolean isHidden(Path path) {
    return path.getName().startsWith(".") || path.getName().startsWith("_");
  }

  /** One that cannot be listed, or has no part yet, costs none of the others: to read it fails. */
  private static EventLog listed(FileSystem files, Path directory) {
    try {
      return rolling(files, directory);
    } catch (IOException e) {
      return new EventLog(directory, List.of());
    }
  }

  private static EventLog rolling(FileSystem files, Path directory) throws IOException {
    record Part(long number, boolean compacted, Path path) {}
    List<Part> parts = new ArrayList<>();
    for (FileStatus child : files.listStatus(directory)) {
      String name = child.getPath().getName();
      Matcher part = PART.matcher(name);
      // Spark writes a compacted part under such a name, beside the parts that it will replace.
      if (part.matches() && !name.endsWith(LogCodec.IN_PROGRESS)) {
        parts.add(new Part(Long.parseLong(part.group(1)), part.group(2) != null, child.getPath()));
      }
    }
    if (parts.isEmpty()) {
      throw new FileNotFoundException(directory + ": no part of a rolling event log in it");
    }
    long first =
        parts.stream().filter(Part::compacted).mapToLong(Part::number).max().orElse(Long.MIN_VALUE);
    List<Path> inOrder =
        parts.stream()
            .filter(part -> part.compacted() ? part.number() == first : part.number() > first)
            .sorted(Comparator.comparingLong(Part::number))
            .map(Part::path)
            .toList();
    return new EventLog(directory, inOrder);
  }

  /**
   * Gives the events of use to {@code events}, in their order, as far as the log can be read.
   *
   * @return what of the log could not be read or is gone, in a line each; none if it is whole
   * @throws IOException if the file is no event log, or cannot be opened
   */
  List<String> read(Consumer<JsonNode> events, Configuration conf) throws IOException {
    List<String> damages = new ArrayList<>();
    List<Path> there = parts.isEmpty() ? rolling(fileSystem(path, conf), path).parts() : parts;
    String first = there.get(0).getName();
    if (first.endsWith(LogCodec.COMPACTED)) {
      damages.add(
          first + " is compacted: of jobs that had ended before, only S3E's own sums are left");
    }
    boolean hasEnd = false;
    boolean isCutOff = false;
    for (Path part : there) {
      PartReader reader = new PartReader(part, events, damages);
      reader.read(conf);
      hasEnd |= reader.hasEnd;
      isCutOff = reader.isCutOff;
    }
    if (!hasEnd && !isCutOff) {
      damages.add(path.getName() + " has no end of the application: it runs, or was killed");
    }
    return damages;
  }

  /** Reads one file. Used once, by one thread. */
  private static final class PartReader {
    private final Path part;
    private final Consumer<JsonNode> events;
    private final List<String> damages;
    private long lines;
    private long badLines;
    private boolean lastIsBad;
    private boolean hasEnd;
    private boolean isCutOff;

    PartReader(Path part, Consumer<JsonNode> events, List<String> damages) {
      this.part = part;
      this.events = events;
      this.damages = damages;
    }

    void read(Configuration conf) throws IOException {
      try (InputStream file = fileSystem(part, conf).open(part);
          BufferedReader reader =
              new BufferedReader(
                  new InputStreamReader(LogCodec.of(part.getName()).open(file), UTF_8))) {
        readLines(reader);
      } catch (Error e) {
        // Named, not caught by its type: that is absent where the library is.
        boolean isSnappys = e.getClass().getName().endsWith(".SnappyError");
        if (isSnappys && !String.valueOf(e.getMessage()).contains("FAILED_TO_LOAD")) {
          breaksOff(new IOException(e.getMessage(), e), conf);
          return;
        }
        if (!isSnappys && !(e instanceof LinkageError)) {
          throw e;
        }
        throw new IOException(
            part + ": the library of the codec " + LogCodec.of(part.getName()) + " is missing", e);
      } catch (IOException e) {
        breaksOff(e, conf);
        return;
      }
      isCutOff = lines == 0 || lastIsBad;
      if (lines == 0) {
        damages.add(part.getName() + " is empty");
      } else if (badLines > (lastIsBad ? 1 : 0)) {
        damages.add(part.getName() + ": " + badLines + " of " + lines + " lines cannot be read");
      } else if (lastIsBad) {
        damages.add(part.getName() + ": the last line, number " + lines + ", is cut off");
      }
    }

    private void breaksOff(IOException e, Configuration conf) throws IOException {
      if (lines == 0 && fileSystem(part, conf).getFileStatus(part).getLen() > 0) {
        throw e instanceof NoEventLogException ? e : new IOException(part + ": " + e, e);
      }
      String how = lines == 0 ? " is empty" : " breaks off after line " + lines + " (" + e + ")";
      damages.add(part.getName() + how);
      isCutOff = true;
    }

    private void readLines(BufferedReader reader) throws IOException {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (lines == 0 && !line.startsWith("{\"Event\":")) {
          throw new NoEventLogException(part + " is no event log of Spark: its first line is none");
        }
        lines++;
        take(line);
      }
    }

    private void take(String line) {
      lastIsBad = !line.endsWith("}");
      try {
        if (lastIsBad) {
          badLines++;
        } else if (KNOWN.matcher(line).lookingAt()) {
          hasEnd |= line.startsWith(END);
          events.accept(JSON.readTree(line));
        }
      } catch (JsonProcessingException e) {
        badLines++;
        lastIsBad = true;
      }
    }
  }

  /** The file is of another kind. */
  private static final class NoEventLogException extends IOException {
    private static final long serialVersionUID = 1;

    NoEventLogException(String message) {
      super(message);
    }
  }
}
