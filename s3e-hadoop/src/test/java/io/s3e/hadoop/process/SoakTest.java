// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.process;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.block.ObjectRef;
import io.s3e.testing.Fault;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two JVMs of {@value SoakReader#STREAMS} streams each read from a store that does much wrong, over
 * one cache on disk: every byte is right, no read fails, and nothing is left at the end. {@value
 * #SECONDS} says how long, {@code .ci/soak} runs 15 min of it.
 */
@Slow
@Tag("any-hadoop")
class SoakTest {
  private static final String SECONDS = "s3e.soak.seconds";

  /** After a third of them even a JVM on a busy machine has all its memory. */
  private static final int SECONDS_OF_A_BUILD = 16;

  private static final int JVMS = 2;

  /** Growth of resident memory from the middle third of the time to the last, in KiB. */
  private static final long FLAT_KIB = 48 << 10;

  @TempDir private Path cache;

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void nothingIsWrongAndNothingIsLeft() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/status")), "resident memory is to be had");
    int seconds = Integer.getInteger(SECONDS, SECONDS_OF_A_BUILD);
    long seed = Seed.draw();
    List<ForkedJvm> readers = new ArrayList<>();
    try (HostileS3Server server = HostileS3Server.start()) {
      for (int number = 0; number < SoakReader.OBJECTS; number++) {
        server.put(
            new ObjectRef(SoakReader.BUCKET, SoakReader.key(number)), SoakReader.content(number));
      }
      SplittableRandom random = new SplittableRandom(seed);
      server.decide(request -> fault(random));
      for (int i = 0; i < JVMS; i++) {
        readers.add(
            launch()
                .start(
                    server.endpoint().toString(),
                    cache.toString(),
                    String.valueOf(seconds),
                    String.valueOf(seed + i)));
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      long gets = 0;
      while (System.nanoTime() < end) {
        Pause.millis(500, "between two samples");
        gets += server.gets().size();
        server.forgetRequests();
        for (ForkedJvm reader : readers) {
          assertThat(reader.isAlive()).as("reader %s lives", reader.pid()).isTrue();
        }
      }
      for (ForkedJvm reader : readers) {
        check(reader, seconds);
      }
      // JVMs that began late read on until now.
      gets += server.gets().size();
      assertThat(gets).as("GETs").isGreaterThan(100);
      awaitTrue("all connections are closed", () -> server.openConnections() == 0);
    } finally {
      for (ForkedJvm reader : readers) {
        reader.close();
      }
    }
  }

  private static void check(ForkedJvm reader, int seconds) throws Exception {
    List<String> before = new ArrayList<>();
    long read = Long.parseLong(reader.await(SoakReader.READ, before));
    assertThat(before).as("errors").noneMatch(line -> line.startsWith(SoakReader.FAILED));
    assertThat(read).as("bytes").isGreaterThan(SoakReader.SIZE);
    assertThat(reader.await(SoakReader.UNREAD)).as("unread bytes").isEqualTo("0");
    assertThat(reader.await(SoakReader.RESERVED)).as("reserved bytes").isEqualTo("0");
    assertThat(reader.await(SoakReader.THREADS)).as("threads").startsWith("0 ");
    reader.await(SoakReader.END);
    reader.awaitEnd();
    assertThat(reader.exitCode()).isZero();

    List<Long> resident =
        before.stream()
            .filter(line -> line.startsWith(SoakReader.RSS))
            .map(line -> Long.parseLong(line.substring(SoakReader.RSS.length())))
            .toList();
    int third = resident.size() / 3;
    long middle = median(resident.subList(third, 2 * third));
    long last = median(resident.subList(2 * third, resident.size()));
    assertThat(last - middle).as("growth in KiB from %d", middle).isLessThan(FLAT_KIB);
    System.out.println(
        "soak of " + seconds + " s: " + read + " bytes, " + middle + " then " + last + " KiB");
  }

  private static long median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  /** One answer in eight is bad. Several threads. */
  private static Fault fault(SplittableRandom random) {
    int choice;
    int bytes;
    synchronized (random) {
      choice = random.nextInt(1000);
      bytes = random.nextInt(1 << 20);
    }
    if (choice < 20) {
      return Fault.status(503, "SlowDown");
    } else if (choice < 40) {
      return Fault.status(500, "InternalError");
    } else if (choice < 60) {
      return Fault.resetAfter(bytes);
    } else if (choice < 80) {
      return Fault.endAfter(bytes);
    } else if (choice < 84) {
      return Fault.stallAfter(bytes);
    } else if (choice < 94) {
      return Fault.trickle(16 << 10, Duration.ofMillis(5));
    } else if (choice < 104) {
      return Fault.shifted(1);
    } else if (choice < 114) {
      return Fault.resetAtOnce();
    }
    return choice < 125 ? Fault.delay(Duration.ofMillis(100)) : Fault.none();
  }

  /** All of the heap at once, so that resident memory grows by what is outside of it alone. */
  private ForkedJvm.Launch launch() throws IOException {
    Path temporary = Files.createTempDirectory("soak");
    return ForkedJvm.of(SoakReader.class.getName())
        .unverified()
        .options("-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch", "-XX:MaxDirectMemorySize=256m")
        .options("-Djava.io.tmpdir=" + temporary)
        .in(temporary);
  }
}
