// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.process;

import io.s3e.hadoop.S3AServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * A server's program: for each request a file system of the user who asks, which reads a little and
 * is closed, by {@code closeAllForUGI}. Says how much memory it has after some of them, and at the
 * end what they took.
 */
public final class ComingReader {
  static final String BUCKET = "coming";
  static final String OBJECT = "object";
  static final int SIZE = 8 << 20;

  /** Number of file systems so far, and resident memory in KiB. */
  static final String RESIDENT = "resident ";

  /** Processor time in ms. */
  static final String PROCESSOR = "processor ";

  /** The 99th percentile of the reads by position, in µs. */
  static final String P99 = "p99 ";

  /** How many engines there were: timers, of which an engine has one. */
  static final String ENGINES = "engines ";

  private static final int USERS = 97;
  private static final int READS = 30;
  private static final int READ = 64 << 10;
  private static final int TOLD_EVERY = 5;

  private final Configuration conf;
  private final List<Long> nanos = Collections.synchronizedList(new ArrayList<>());
  private final Set<Long> timers = ConcurrentHashMap.newKeySet();

  private ComingReader(Configuration conf) {
    this.conf = conf;
  }

  /**
   * @param args endpoint, class of the file system, how many file systems, how many at once
   */
  public static void main(String[] args) throws Exception {
    Configuration conf = S3AServer.s3a(URI.create(args[0]));
    conf.set("fs.s3a.impl", args[1]);
    conf.setBoolean("fs.s3a.impl.disable.cache", false);
    conf.set("fs.s3a.input.stream.type", "classic");
    int count = Integer.parseInt(args[2]);
    int atOnce = Integer.parseInt(args[3]);
    ComingReader reader = new ComingReader(conf);
    ExecutorService threads = Executors.newFixedThreadPool(atOnce);
    for (int done = 0; done < count; ) {
      List<Future<?>> round = new ArrayList<>();
      for (int i = 0; i < atOnce; i++) {
        int number = done++;
        round.add(
            threads.submit(
                () -> {
                  reader.comeAndGo(number);
                  return null;
                }));
      }
      for (Future<?> one : round) {
        one.get(60, TimeUnit.SECONDS);
      }
      if (done % TOLD_EVERY < atOnce) {
        System.out.println(RESIDENT + done + " " + residentKib());
      }
    }
    threads.shutdown();
    System.out.println(ENGINES + reader.timers.size());
    Collections.sort(reader.nanos);
    long p99 = reader.nanos.get(reader.nanos.size() * 99 / 100);
    System.out.println(P99 + TimeUnit.NANOSECONDS.toMicros(p99));
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    System.out.println(PROCESSOR + TimeUnit.NANOSECONDS.toMillis(system.getProcessCpuTime()));
  }

  private void comeAndGo(int number) throws IOException, InterruptedException {
    UserGroupInformation user = UserGroupInformation.createRemoteUser("user-" + number % USERS);
    user.doAs(
        (PrivilegedExceptionAction<Void>)
            () -> {
              read(FileSystem.get(URI.create("s3a://" + BUCKET), conf), number);
              return null;
            });
    FileSystem.closeAllForUGI(user);
  }

  private void read(FileSystem fileSystem, int number) throws IOException {
    byte[] bytes = new byte[READ];
    SplittableRandom random = new SplittableRandom(number);
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/" + OBJECT);
    try (FSDataInputStream in = fileSystem.open(path)) {
      for (int i = 0; i < READS; i++) {
        long from = System.nanoTime();
        in.readFully(random.nextInt(SIZE - READ), bytes);
        nanos.add(System.nanoTime() - from);
      }
    }
    long left = SIZE;
    try (FSDataInputStream in = fileSystem.open(path)) {
      for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
        left -= count;
      }
    }
    if (left != 0) {
      throw new IOException(left + " bytes were not read");
    }
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("s3e-timer"))
        .forEach(thread -> timers.add(thread.getId()));
  }

  private static long residentKib() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("no VmRSS in /proc/self/status");
  }
}
