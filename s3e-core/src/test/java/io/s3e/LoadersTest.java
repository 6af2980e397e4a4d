// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;

/** Engines of several class loaders in one JVM: one limit, and each of them gets its part. */
@Timeout(120)
@Slow
class LoadersTest {
  private static final long MIB = 1 << 20;
  private static final long BUDGET = 16 * MIB;
  private static final int OBJECT = 20 << 20;
  private static final int COPYING = 0;
  private static final int LENDING = 1;

  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final ExecutorService readers = Executors.newCachedThreadPool();
  private final List<URLClassLoader> loaders = new ArrayList<>();
  private final AtomicBoolean watching = new AtomicBoolean(true);
  private final AtomicLong most = new AtomicLong();
  private Future<?> watch;

  private static ObjectName name() throws JMException {
    return new ObjectName("io.s3e:type=MemoryAccount");
  }

  private boolean isRegistered() throws JMException {
    return server.isRegistered(name());
  }

  private long attribute(String attribute) throws JMException {
    return ((Number) server.getAttribute(name(), attribute)).longValue();
  }

  /** An engine by classes that no other loader has. */
  private AutoCloseable engine(long budget, int seed, int ownedPart) throws Exception {
    URL[] classes =
        Stream.of(S3E.class, LoaderEngine.class, Logger.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
            .distinct()
            .toArray(URL[]::new);
    URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
    loaders.add(loader);
    Class<?> engine = loader.loadClass(LoaderEngine.class.getName());
    assertThat(engine).isNotSameAs(LoaderEngine.class);
    return (AutoCloseable)
        engine
            .getConstructor(long.class, int.class, int.class, int.class)
            .newInstance(budget, OBJECT, seed, ownedPart);
  }

  private static long limit(AutoCloseable engine) {
    return ((LongSupplier) engine).getAsLong();
  }

  @SuppressWarnings("unchecked")
  private static boolean reads(AutoCloseable engine) throws Exception {
    return ((Callable<Boolean>) engine).call();
  }

  /** Reads over and over until told to end. */
  private Future<Integer> readOn(AutoCloseable engine, AtomicBoolean goOn, AtomicInteger rounds) {
    return readers.submit(
        () -> {
          while (goOn.get()) {
            assertThat(reads(engine)).isTrue();
            rounds.incrementAndGet();
          }
          return rounds.get();
        });
  }

  @BeforeEach
  void watchTheSum() throws Exception {
    Engines.endIdle();
    assertThat(isRegistered()).as("an account of an earlier test").isFalse();
    watch =
        readers.submit(
            () -> {
              while (watching.get()) {
                try {
                  most.accumulateAndGet(attribute("Reserved"), Math::max);
                } catch (JMException e) {
                  // Nobody has an engine now.
                }
                Pause.millis(1, "between two samples");
              }
              return null;
            });
  }

  @AfterEach
  void theSumWasNeverAboveTheLimit() throws Exception {
    watching.set(false);
    watch.get(10, TimeUnit.SECONDS);
    readers.shutdownNow();
    for (URLClassLoader loader : loaders) {
      loader.close();
    }
    assertThat(most.get()).as("most bytes reserved").isPositive().isLessThanOrEqualTo(BUDGET);
    assertThat(isRegistered()).as("registered after the last engine").isFalse();
  }

  @Test
  void anEngineThatReadsGetsWhatAnIdleOneOnlyKeeps() throws Exception {
    try (AutoCloseable first = engine(BUDGET, 1, COPYING)) {
      assertThat(reads(first)).isTrue();
      assertThat(attribute("Pooled"))
          .as("the first engine keeps what it read")
          .isGreaterThan(BUDGET / 4 * 3);
      try (AutoCloseable second = engine(2 * BUDGET, 2, COPYING)) {
        assertThat(limit(second)).isEqualTo(BUDGET);
        assertThat(attribute("Engines")).isEqualTo(2);
        assertThat(attribute("Limit")).isEqualTo(BUDGET);
        assertThat(reads(second)).isTrue();
        assertThat(reads(first)).isTrue();
        first.close();
        assertThat(attribute("Engines")).isEqualTo(1);
        assertThat(reads(second)).isTrue();
        assertThat(attribute("Pooled")).as("the second alone").isGreaterThan(BUDGET / 4 * 3);
      }
    }
  }

  @Test
  void aClientOfASecondLoaderOwnsMemoryThatTheFirstOnesPoolGaveBack() throws Exception {
    try (AutoCloseable first = engine(BUDGET, 1, COPYING)) {
      assertThat(reads(first)).isTrue();
      try (AutoCloseable second = engine(BUDGET, 2, LENDING)) {
        assertThat(attribute("Reserved") - attribute("Pooled"))
            .as("five eighths")
            .isEqualTo(10 * MIB);
        assertThat(reads(second)).isTrue();
        assertThat(reads(first)).isTrue();
      }
    }
  }

  @Test
  void bothProgressWhileBothRead() throws Exception {
    AtomicBoolean goOn = new AtomicBoolean(true);
    AtomicInteger byFirst = new AtomicInteger();
    AtomicInteger bySecond = new AtomicInteger();
    try (AutoCloseable first = engine(BUDGET, 1, COPYING);
        AutoCloseable second = engine(BUDGET, 2, COPYING)) {
      List<Future<Integer>> reading = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        reading.add(readOn(first, goOn, byFirst));
      }
      awaitTrue("rounds of the first", () -> byFirst.get() >= 3);
      reading.add(readOn(second, goOn, bySecond));
      awaitTrue("rounds of the second", () -> bySecond.get() >= 3);
      int before = byFirst.get();
      awaitTrue("more rounds of the first", () -> byFirst.get() >= before + 3);
      goOn.set(false);
      for (Future<Integer> reader : reading) {
        reader.get(60, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void loadersComeAndGoWhileTheFirstReads() throws Exception {
    AtomicBoolean goOn = new AtomicBoolean(true);
    AtomicInteger rounds = new AtomicInteger();
    try (AutoCloseable first = engine(BUDGET, 1, COPYING)) {
      Future<Integer> reading = readOn(first, goOn, rounds);
      for (int i = 0; i < 4; i++) {
        try (AutoCloseable second = engine(BUDGET, 2 + i, i % 2)) {
          assertThat(reads(second)).isTrue();
        }
        assertThat(attribute("Engines")).isEqualTo(1);
      }
      goOn.set(false);
      reading.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void theAccountOutlivesTheEngineThatMadeIt() throws Exception {
    AutoCloseable first = engine(BUDGET, 1, LENDING);
    try (AutoCloseable second = engine(BUDGET, 2, COPYING)) {
      first.close();
      try (AutoCloseable third = engine(2 * BUDGET, 3, COPYING)) {
        assertThat(limit(third)).isEqualTo(BUDGET);
        assertThat(reads(third)).isTrue();
        assertThat(reads(second)).isTrue();
      }
    }
  }
}
