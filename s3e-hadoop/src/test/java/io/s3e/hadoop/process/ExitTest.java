// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.process;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.process.LeavingReader.Activity;
import io.s3e.hadoop.process.LeavingReader.Ending;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * A JVM that leaves its file systems to Hadoop's shutdown hook ends as fast by S3E as by S3A, with
 * the same exit code, with no warning, with thread dumps taken meanwhile, and with nothing left of
 * its private cache on disk.
 *
 * <p>The time is from the program's last word, or the signal, to the process's end. A run takes
 * some cases, other ones each time ({@value Seed#PROPERTY} repeats one). {@value #ROUNDS} set to a
 * number runs every case, or those in whose words {@value #ONLY} finds its pattern, so many times
 * by each, by turns, holds the median of S3E's to S3A's and {@link #STRICT}, and prints the
 * figures: for a quiet machine.
 */
@Slow
@Tag("one-hadoop")
class ExitTest {
  private static final String ROUNDS = "s3e.test.exits";
  private static final String ONLY = "s3e.test.exits.cases";
  private static final int CASES_OF_A_BUILD = 2;

  /** How much longer than S3A's the median of S3E's exits may take. */
  private static final Duration STRICT = Duration.ofMillis(150);

  /** How much longer than S3A any exit may take: far below the 10 s of one wait for the CRT. */
  private static final Duration LENIENT = Duration.ofSeconds(5);

  /** So few and so far apart, because the JVM looks at SIGTERM only when no SIGQUIT is left. */
  private static final int DUMPS = 6;

  private static final long DUMP_PAUSE_MILLIS = 50;

  private static final List<String> BUCKETS = List.of("exit-1", "exit-2", "exit-3");
  private static final String WORD = "the-word";

  private static final Pattern COMPLAINT = Pattern.compile("WARN |ERROR |SIGSEGV|SIGBUS|SIGABRT");

  /** The taker of thread dumps while the JVM ends. */
  private enum Dumps {
    NONE,
    SIGQUIT,
    JSTACK
  }

  private enum Transport {
    PLAIN,
    TLS
  }

  private record Case(
      Transport transport, int fileSystems, Activity activity, Ending ending, Dumps dumps) {
    int exitCode() {
      return switch (ending) {
        case RETURN -> 0;
        case EXIT -> LeavingReader.EXIT_CODE;
        case SIGTERM -> 128 + 15;
      };
    }
  }

  private record Exit(int code, Duration time, List<String> output) {}

  @TempDir private static Path directory;

  private static HostileS3Server tls;
  private static Path trustStore;
  private static Path cache;

  @BeforeAll
  static void put() throws Exception {
    cache = Files.createDirectory(directory.resolve("cache"));
    byte[] content = new byte[8 << 20];
    SelfSigned certificate = SelfSigned.create(directory);
    trustStore = certificate.trustStore(directory.resolve("trust.p12"));
    tls = HostileS3Server.startTls(certificate.serverContext());
    for (String bucket : BUCKETS) {
      tls.put(new ObjectRef(bucket, LeavingReader.OBJECT), content);
      S3AServer.createBucket(bucket);
      URI root = URI.create("s3a://" + bucket);
      try (FileSystem fileSystem =
              FileSystem.newInstance(root, S3AServer.s3a(S3AServer.endpoint()));
          OutputStream out =
              fileSystem.create(new org.apache.hadoop.fs.Path("/" + LeavingReader.OBJECT));
          OutputStream word = fileSystem.create(new org.apache.hadoop.fs.Path("/" + WORD))) {
        out.write(content);
        word.write((WORD + "\n").getBytes(StandardCharsets.US_ASCII));
      }
    }
  }

  @AfterAll
  static void stop() throws IOException {
    tls.close();
  }

  @TestFactory
  Stream<DynamicTest> endsAsFastAsS3A() {
    List<Case> cases = all();
    int rounds = Integer.getInteger(ROUNDS, 0);
    if (rounds == 0) {
      long seed = Seed.draw();
      Collections.shuffle(cases, new Random(seed));
      cases = cases.subList(0, CASES_OF_A_BUILD);
    } else {
      Pattern only = Pattern.compile(System.getProperty(ONLY, ""));
      cases.removeIf(each -> !only.matcher(each.toString()).find());
    }
    return cases.stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.toString(),
                    () ->
                        compare(
                            each.toString(),
                            () -> run(S3EFileSystem.class, each),
                            () -> run(S3AFileSystem.class, each),
                            each.exitCode())));
  }

  /** The engine outlives the file system; the process does not wait for it. */
  @Test
  void anIdleEngineKeepsNoProcess() {
    for (Transport transport : Transport.values()) {
      Case closed = new Case(transport, 1, Activity.CLOSED, Ending.RETURN, Dumps.NONE);
      compare(
          closed.toString(),
          () -> run(S3EFileSystem.class, closed),
          () -> run(S3AFileSystem.class, closed),
          0);
    }
  }

  @Test
  void theShellEndsAsFastAsS3A() throws Exception {
    compare(
        "hadoop fs -cat", () -> shell(S3EFileSystem.class), () -> shell(S3AFileSystem.class), 0);
  }

  @Test
  void aKilledJvmLeavesNothingOfItsCache() throws Exception {
    Path processes = Path.of("/proc");
    assumeTrue(Files.isDirectory(processes), "a look at the files that another process has open");
    Case reading = new Case(Transport.PLAIN, 1, Activity.READING, Ending.SIGTERM, Dumps.NONE);
    try (ForkedJvm jvm =
        launch(LeavingReader.class).start(arguments(S3EFileSystem.class, reading))) {
      jvm.await(LeavingReader.ENDING);
      Path descriptors = processes.resolve(Long.toString(jvm.pid())).resolve("fd");
      awaitTrue(
          "the cache has a file", Duration.ofMinutes(1), () -> namelessFiles(descriptors) > 0);
      jvm.kill();
    }
    assertThat(cache.toFile().list()).isEmpty();
  }

  /** How many files of the cache a process has open that have no name. */
  private static long namelessFiles(Path descriptors) throws IOException {
    long files = 0;
    try (DirectoryStream<Path> open = Files.newDirectoryStream(descriptors)) {
      for (Path descriptor : open) {
        try {
          Path former = Files.readSymbolicLink(descriptor);
          if (former.startsWith(cache.toRealPath()) && former.toString().endsWith(" (deleted)")) {
            files++;
          }
        } catch (NoSuchFileException closed) {
          // It is not one that the cache holds open.
          continue;
        }
      }
    }
    return files;
  }

  private static List<Case> all() {
    List<Case> all = new ArrayList<>();
    for (Transport transport : Transport.values()) {
      for (int fileSystems : new int[] {1, BUCKETS.size()}) {
        for (Activity activity : Activity.values()) {
          for (Ending ending : Ending.values()) {
            for (Dumps dumps : Dumps.values()) {
              all.add(new Case(transport, fileSystems, activity, ending, dumps));
            }
          }
        }
      }
    }
    return all;
  }

  private static void compare(
      String name, Supplier<Exit> byS3E, Supplier<Exit> byS3A, int exitCode) {
    int rounds = Integer.getInteger(ROUNDS, 0);
    List<Long> ours = new ArrayList<>();
    List<Long> theirs = new ArrayList<>();
    for (int round = 0; round < Math.max(1, rounds); round++) {
      Exit control = byS3A.get();
      assertThat(control.code()).isEqualTo(exitCode);
      theirs.add(control.time().toMillis());
      Exit exit = byS3E.get();
      assertThat(exit.code()).as("exit code of %s", exit).isEqualTo(exitCode);
      assertThat(complaints(exit.output())).isEmpty();
      assertThat(cache.toFile().list()).isEmpty();
      assertThat(exit.time())
          .as("S3A took %s", control.time())
          .isLessThanOrEqualTo(control.time().plus(LENIENT));
      ours.add(exit.time().toMillis());
    }
    assertThat(directory.resolve("hs_err.log")).doesNotExist();
    if (rounds > 0) {
      Collections.sort(ours);
      Collections.sort(theirs);
      System.out.println("exit in ms, " + name + ": S3E " + ours + ", S3A " + theirs);
      assertThat(ours.get(rounds / 2))
          .as("median of %s beside S3A's of %s", ours, theirs)
          .isLessThanOrEqualTo(theirs.get(rounds / 2) + STRICT.toMillis());
    }
  }

  /** Warnings, but for those of every Hadoop program here. */
  private static List<String> complaints(List<String> output) {
    return output.stream()
        .filter(line -> COMPLAINT.matcher(line).find())
        .filter(line -> !line.contains("NativeCodeLoader") && !line.contains("MetricsConfig"))
        // S3A's word to a thread that opens a file while the file system is closed.
        .filter(line -> !line.contains("Credentials requested after provider list was closed"))
        .toList();
  }

  private static String[] arguments(Class<? extends FileSystem> type, Case each) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                endpoint(each.transport()).toString(),
                type.getName(),
                cache.toString(),
                each.activity().name(),
                each.ending().name()));
    arguments.addAll(BUCKETS.subList(0, each.fileSystems()));
    return arguments.toArray(String[]::new);
  }

  private static Exit run(Class<? extends FileSystem> type, Case each) {
    try (ForkedJvm jvm = launch(LeavingReader.class).start(arguments(type, each))) {
      List<String> output = new ArrayList<>();
      jvm.await(LeavingReader.ENDING, output);
      return end(jvm, each, output);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static URI endpoint(Transport transport) {
    return transport == Transport.TLS ? tls.endpoint() : S3AServer.endpoint();
  }

  private static Exit end(ForkedJvm jvm, Case each, List<String> output)
      throws IOException, InterruptedException {
    long from = System.nanoTime();
    if (each.ending() == Ending.SIGTERM) {
      jvm.signal("TERM");
    }
    for (int dump = 0; dump < DUMPS && each.dumps() != Dumps.NONE && jvm.isAlive(); dump++) {
      if (each.dumps() == Dumps.JSTACK) {
        jvm.jstack();
      } else {
        jvm.signal("QUIT");
        Pause.millis(DUMP_PAUSE_MILLIS, "the pace of the dumps");
      }
    }
    return exit(jvm, from, output);
  }

  private static Exit exit(ForkedJvm jvm, long from, List<String> output)
      throws InterruptedException {
    long time = jvm.awaitEnd() - from;
    output.addAll(jvm.rest());
    return new Exit(jvm.exitCode(), Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(time)), output);
  }

  private static Exit shell(Class<? extends FileSystem> type) {
    try (ForkedJvm jvm =
        launch(FsShell.class)
            .classPath(List.of(site(type).toString(), System.getProperty("java.class.path")))
            .start("-cat", "s3a://" + BUCKETS.get(0) + "/" + WORD)) {
      List<String> output = new ArrayList<>();
      jvm.await(WORD, output);
      return exit(jvm, System.nanoTime(), output);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** A directory with the core-site.xml that leads the shell to the server. */
  private static Path site(Class<? extends FileSystem> type) {
    Configuration conf =
        LeavingReader.configuration(S3AServer.endpoint(), type.getName(), cache.toString());
    Path site = directory.resolve(type.getSimpleName());
    try {
      Files.createDirectories(site);
      try (OutputStream out = Files.newOutputStream(site.resolve("core-site.xml"))) {
        conf.writeXml(out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return site;
  }

  private static ForkedJvm.Launch launch(Class<?> main) {
    return ForkedJvm.of(main.getName())
        .unverified()
        .options("-Xmx256m", "-XX:ErrorFile=" + directory.resolve("hs_err.log"))
        .options("-Djava.io.tmpdir=" + directory)
        .options("-Djavax.net.ssl.trustStore=" + trustStore)
        .options("-Djavax.net.ssl.trustStorePassword=" + SelfSigned.PASSWORD)
        .in(directory);
  }
}
