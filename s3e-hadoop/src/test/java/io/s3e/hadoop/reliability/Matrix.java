// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * Jobs of one fault, one stream and one way to read, each with a server and a file system of its
 * own, so that nothing that one learns of its store reaches another.
 */
final class Matrix {
  /** One job. */
  record Job(FaultCase fault, Subject subject, ReadStyle style) {
    @Override
    public String toString() {
      return fault + ", " + subject + ", " + style;
    }
  }

  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "file");

  private final StoredContent plain = StoredContent.generated(8 << 20, 1);
  private final StoredContent parquet;
  private final Duration limit;

  /**
   * Prepares the files.
   *
   * @param directory for the Parquet file
   * @param limit after which a job hangs
   */
  Matrix(Path directory, Duration limit) throws IOException {
    parquet = SmallParquet.create(directory);
    this.limit = limit;
  }

  static List<Job> jobs(List<FaultCase> faults, List<Subject> subjects) {
    List<Job> jobs = new ArrayList<>();
    for (FaultCase fault : faults) {
      for (Subject subject : subjects) {
        for (ReadStyle style : ReadStyle.values()) {
          jobs.add(new Job(fault, subject, style));
        }
      }
    }
    return jobs;
  }

  /** Runs all, one stream after another and so many jobs at once. */
  List<Outcome> run(List<Job> jobs, int atOnce) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(atOnce);
    try {
      List<Outcome> outcomes = new ArrayList<>();
      for (Subject subject : Subject.values()) {
        List<Future<Outcome>> running =
            jobs.stream()
                .filter(job -> job.subject() == subject)
                .map(job -> threads.submit(() -> run(job)))
                .toList();
        for (Future<Outcome> job : running) {
          outcomes.add(job.get());
        }
      }
      return outcomes;
    } finally {
      threads.shutdownNow();
    }
  }

  /** What is read in that way. */
  StoredContent content(ReadStyle style) {
    return style == ReadStyle.PARQUET ? parquet : plain;
  }

  /** Runs one job. */
  Outcome run(Job job) throws Exception {
    StoredContent content = content(job.style());
    HostileS3Server server = HostileS3Server.startApart();
    server.put(OBJECT, content);
    Configuration conf = job.subject().besideOthers(server.endpoint());
    job.fault().settings().forEach(conf::set);
    FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + OBJECT.bucket()), conf);
    job.fault().script().accept(server);
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path("/" + OBJECT.key());
    long start = System.nanoTime();
    Verdict verdict;
    String detail = "";
    AtomicReference<FSDataInputStream> opened = new AtomicReference<>();
    try {
      LimitedJob.run(
          job.toString(),
          limit,
          () -> {
            try (FSDataInputStream in = fs.open(file)) {
              opened.set(in);
              job.style().read(in, content);
            }
            return null;
          });
      verdict = Verdict.RIGHT;
    } catch (WrongBytesException e) {
      verdict = Verdict.WRONG_BYTES;
      detail = e.getMessage();
    } catch (TimeoutException e) {
      verdict = Verdict.HANG;
      FSDataInputStream reading = opened.get();
      if (reading != null) {
        // S3A's prefetch stream gives 0 bytes for ever where a body is short, and keeps a record of
        // each: that would take all memory.
        LimitedJob.close(reading);
      }
    } catch (UnsupportedOperationException e) {
      verdict = Verdict.UNSUPPORTED;
    } catch (Exception e) {
      verdict = Verdict.CLEAR_ERROR;
      detail = e.toString();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long gets = server.gets().size();
    server.close();
    LimitedJob.close(fs);
    return new Outcome(
        job.fault().name(), job.subject(), job.style(), verdict, seconds, gets, detail);
  }
}
