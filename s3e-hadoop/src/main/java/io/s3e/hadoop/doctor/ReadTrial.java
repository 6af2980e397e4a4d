// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.hadoop.doctor.Report.Section;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Reads the first bytes of one object as a job would, and says by what. */
final class ReadTrial {
  private static final int BYTES = 64 << 10;

  /** A store that answers at all does so in a part of this. */
  private static final long PATIENCE_SECONDS = 60;

  private static final int LONGEST_MESSAGE = 400;

  private final Configuration conf;
  private final Report.Part report;

  /**
   * @param conf that the file system is made with
   */
  ReadTrial(Configuration conf, Report report) {
    this.conf = conf;
    this.report = report.in(Section.READING);
  }

  /**
   * The answer of one trial.
   *
   * @param client empty if S3E did not read
   */
  private record Answer(int bytes, long millis, String fileSystem, String client) {}

  /** One row; the read has a thread of its own, so that a store that hangs ends it in time. */
  void read(URI place) {
    FutureTask<Answer> answer = new FutureTask<>(() -> firstBytes(place));
    Thread thread = new Thread(answer, "s3e-doctor-read");
    thread.setDaemon(true);
    thread.start();
    try {
      tell(place.toString(), answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
    } catch (ExecutionException e) {
      tellFailure(place.toString(), shortened(e.getCause() == null ? e : e.getCause()));
    } catch (TimeoutException e) {
      tellFailure(place.toString(), "no answer within " + PATIENCE_SECONDS + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      tellFailure(place.toString(), "interrupted");
    }
  }

  private Answer firstBytes(URI place) throws IOException {
    Path path = new Path(place);
    long start = System.nanoTime();
    try (FileSystem fs = FileSystem.newInstance(place, conf)) {
      byte[] bytes = new byte[BYTES];
      int read;
      try (InputStream in = fs.open(path)) {
        read = in.readNBytes(bytes, 0, BYTES);
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      return new Answer(read, millis, fs.getClass().getName(), client(fs, path));
    }
  }

  private static String client(FileSystem fs, Path path) throws IOException {
    for (ClientChoice choice : ClientChoice.values()) {
      if (fs instanceof S3EFileSystem && fs.hasPathCapability(path, choice.capability())) {
        return choice.text();
      }
    }
    return "";
  }

  private void tell(String place, Answer answer) {
    String value =
        String.format(
            Locale.ROOT,
            "%d bytes in %d ms by %s%s",
            answer.bytes(),
            answer.millis(),
            answer.fileSystem(),
            answer.client().isEmpty() ? "" : ", client " + answer.client());
    if (answer.client().isEmpty() && answer.bytes() > 0) {
      report.note(place, value + ", not by S3E");
    } else {
      report.ok(place, value);
    }
  }

  private void tellFailure(String place, String problem) {
    report.todo(
        place,
        problem,
        "Look up the message in docs/TROUBLESHOOTING.md, \"Reads fail\"; where S3A fails too, the"
            + " store, the credentials or the name are the cause");
  }

  /** The class and the first line of the message. */
  static String shortened(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    String first = Arrays.asList(message.split("\\R", 2)).get(0);
    String text = failure.getClass().getSimpleName() + ": " + first;
    return text.length() <= LONGEST_MESSAGE ? text : text.substring(0, LONGEST_MESSAGE) + "…";
  }
}
