// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BoundedExecutorTest {
  private final CopyOnWriteArrayList<Throwable> uncaught = new CopyOnWriteArrayList<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((where, failure) -> uncaught.add(failure));
            return thread;
          });
  private final CountDownLatch open = new CountDownLatch(1);
  private final List<Integer> begun = new CopyOnWriteArrayList<>();

  @AfterEach
  void endThreads() {
    open.countDown();
    threads.shutdown();
  }

  private Runnable waiting(int number) {
    return () -> {
      begun.add(number);
      try {
        open.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
  }

  /** The system refuses those of the threads that {@code refused} holds for, counted from 1. */
  private Executor threadsBut(IntPredicate refused) {
    AtomicInteger asked = new AtomicInteger();
    return task -> {
      if (refused.test(asked.incrementAndGet())) {
        throw new OutOfMemoryError("unable to create native thread");
      }
      threads.execute(task);
    };
  }

  @Test
  void aThreadThatTheSystemRefusesCostsNoTaskAndNoPlace() throws Exception {
    BoundedExecutor one = new BoundedExecutor(threadsBut(number -> number == 2), 1);
    open.countDown();
    for (int i = 0; i < 10; i++) {
      try {
        one.execute(waiting(i));
      } catch (OutOfMemoryError e) {
        begun.add(i);
      }
    }
    awaitTrue("all", () -> begun.size() == 10);
    one.execute(waiting(10));
    awaitTrue("one more", () -> begun.contains(10));
  }

  @Test
  void withoutAThreadForItATaskWaitsForOneThatWorks() throws Exception {
    BoundedExecutor three = new BoundedExecutor(threadsBut(number -> number > 1), 3);
    for (int i = 0; i < 5; i++) {
      three.execute(waiting(i));
    }
    awaitTrue("the first", () -> begun.equals(List.of(0)));
    open.countDown();
    awaitTrue("all", () -> begun.equals(List.of(0, 1, 2, 3, 4)));
  }

  @Test
  void soManyRunAtOnceAndTheOthersAfterThem() throws Exception {
    BoundedExecutor one = new BoundedExecutor(threads, 3);
    for (int i = 0; i < 100; i++) {
      one.execute(waiting(i));
    }
    awaitTrue("three", () -> begun.size() == 3);
    assertThat(begun).containsExactlyInAnyOrder(0, 1, 2);

    // Another user of the threads waits for none of them.
    new BoundedExecutor(threads, 3).execute(waiting(1000));
    awaitTrue("the other's", () -> begun.contains(1000));
    assertThat(begun).hasSize(4);

    open.countDown();
    awaitTrue("all", () -> begun.size() == 101);
  }

  @Test
  void aTaskThatThrowsKeepsNoneWaiting() throws Exception {
    BoundedExecutor one = new BoundedExecutor(threads, 1);
    AtomicInteger run = new AtomicInteger();
    for (int i = 0; i < 5; i++) {
      one.execute(
          () -> {
            run.incrementAndGet();
            throw new IllegalStateException("on purpose");
          });
    }
    awaitTrue("all", () -> run.get() == 5 && uncaught.size() == 5);
  }

  @Test
  void whatWasAcceptedIsRunAfterTheEndAndTheRestRefused() throws Exception {
    BoundedExecutor one = new BoundedExecutor(threads, 1);
    one.execute(waiting(0));
    one.execute(waiting(1));
    threads.shutdown();
    open.countDown();
    awaitTrue("both", () -> begun.size() == 2);
    awaitTrue("the end of both", threads::isTerminated);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> one.execute(waiting(2)))
          .isInstanceOf(RejectedExecutionException.class);
    }
  }

  @Test
  void usersTakeTurns() throws Exception {
    ExecutorService single = Executors.newSingleThreadExecutor();
    BoundedExecutor many = new BoundedExecutor(single, 1);
    BoundedExecutor few = new BoundedExecutor(single, 1);
    for (int i = 0; i < 100; i++) {
      many.execute(waiting(i));
    }
    few.execute(waiting(1000));
    open.countDown();
    awaitTrue("all", () -> begun.size() == 101);
    assertThat(begun.indexOf(1000)).isEqualTo(1);
    single.shutdown();
  }
}
