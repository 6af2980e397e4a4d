// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.CredentialsSource;
import io.s3e.client.CredentialsSource.Credentials;
import io.s3e.testing.Unsayable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CredentialsCacheTest {
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger answered = new AtomicInteger();
  private CredentialsCache cache;
  private boolean withoutThreads;

  @AfterEach
  void close() {
    cache.close();
  }

  @Test
  void asksOnceAndThenAnswersOnTheCallersThread() throws Exception {
    open(() -> key("key"));
    assertThat(readyOn()).isNotSameAs(Thread.currentThread());
    for (int i = 0; i < 100; i++) {
      assertThat(readyOn()).isSameAs(Thread.currentThread());
    }
    assertThat(asked).hasValue(1);
    assertThat(new String(cache.getCredentials().getAccessKeyId(), StandardCharsets.UTF_8))
        .isEqualTo("key");
    assertThat(cache.getCredentials().getSessionToken()).isNull();
  }

  @Test
  void aProviderThatBlocksDoesNotBlockTheCaller() throws Exception {
    CountDownLatch release = openHeld();
    CompletableFuture<Void> ready = new CompletableFuture<>();
    cache.whenReady(() -> ready.complete(null), ready::completeExceptionally);
    assertThat(ready).isNotDone();
    release.countDown();
    ready.get(10, TimeUnit.SECONDS);
  }

  @Test
  void closingEndsTheWaitForAProviderThatHangs() throws Exception {
    CountDownLatch release = openHeld();
    CompletableFuture<Void> ready = new CompletableFuture<>();
    CompletableFuture<Void> renewed = new CompletableFuture<>();
    cache.whenReady(() -> ready.complete(null), ready::completeExceptionally);
    awaitTrue("the provider is asked", () -> asked.get() == 1);
    cache.close();
    assertThat(ready).isCompletedExceptionally();

    // Those who come later wait for nothing either, and what comes late is nobody's.
    CompletableFuture<Void> late = new CompletableFuture<>();
    cache.whenReady(() -> late.complete(null), late::completeExceptionally);
    assertThat(late).isCompletedExceptionally();
    cache.renew(false, () -> renewed.complete(null));
    assertThat(renewed).isCompleted();
    release.countDown();
    assertThat(asked).hasValue(1);
  }

  /** A question that hangs for good is no reason to have no credentials for good. */
  @Test
  void aProviderThatHangsIsAskedOnceMoreAfterAWhile() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch third = new CountDownLatch(1);
    open(
        () -> {
          int number = asked.get();
          if (number == 1) {
            awaitQuietly(release);
            throw new IOException("too late");
          }
          if (number == 3) {
            awaitQuietly(third);
          }
          return key("key-" + number);
        });
    CompletableFuture<Void> first = new CompletableFuture<>();
    cache.whenReady(() -> first.complete(null), first::completeExceptionally);
    awaitTrue("the provider is asked", () -> asked.get() == 1);
    CompletableFuture<Void> soon = new CompletableFuture<>();
    cache.whenReady(() -> soon.complete(null), soon::completeExceptionally);
    assertThat(asked).as("it is given time").hasValue(1);

    cache.asking.begunNanos -= TimeUnit.MINUTES.toNanos(3);
    CompletableFuture<Void> late = new CompletableFuture<>();
    cache.whenReady(() -> late.complete(null), late::completeExceptionally);
    CompletableFuture.allOf(first, soon, late).get(10, TimeUnit.SECONDS);
    assertThat(asked).hasValue(2);
    assertThat(cache.keyId()).isEqualTo("key-2");

    cache.suspect(System.nanoTime(), "key-2");
    CompletableFuture<Void> renewed = new CompletableFuture<>();
    cache.renew(true, () -> renewed.complete(null));
    awaitTrue("the third question is asked", () -> asked.get() == 3);
    release.countDown();
    awaitTrue("the first one has failed at last", () -> answered.get() == 2);
    assertThat(renewed).as("who waits for the third").isNotDone();
    third.countDown();
    renewed.get(10, TimeUnit.SECONDS);
    assertThat(cache.keyId()).isEqualTo("key-3");
  }

  /** Whatever becomes of the question that was asked since. */
  @Test
  void credentialsThatComeLateAreThereForAllWhoWait() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    CountDownLatch second = new CountDownLatch(1);
    open(
        () -> {
          int number = asked.get();
          awaitQuietly(number == 1 ? first : second);
          return key("key-" + number);
        });
    CompletableFuture<Void> ready = new CompletableFuture<>();
    cache.whenReady(() -> ready.complete(null), ready::completeExceptionally);
    awaitTrue("the provider is asked", () -> asked.get() == 1);
    cache.asking.begunNanos -= TimeUnit.MINUTES.toNanos(3);
    CompletableFuture<Void> late = new CompletableFuture<>();
    cache.whenReady(() -> late.complete(null), late::completeExceptionally);
    awaitTrue("and asked once more", () -> asked.get() == 2);
    first.countDown();
    CompletableFuture.allOf(ready, late).get(5, TimeUnit.SECONDS);
    assertThat(cache.keyId()).isEqualTo("key-1");
    second.countDown();
  }

  @Test
  void expiredCredentialsAreAskedForAgain() throws Exception {
    open(
        () ->
            new Credentials(
                "key-" + asked.get(),
                "secret",
                "token",
                Instant.now().plusSeconds(asked.get() == 1 ? 5 : 3600)));
    readyOn();
    readyOn();
    readyOn();
    assertThat(asked).hasValue(2);
    assertThat(cache.getCredentials().getSessionToken())
        .isEqualTo("token".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void suspectedCredentialsServeUntilNewOnesAreThere() throws Exception {
    open(() -> key("key-" + asked.get()));
    readyOn();
    cache.suspect(System.nanoTime(), null);
    assertThat(readyOn()).isSameAs(Thread.currentThread());
    awaitTrue(
        "new credentials",
        () ->
            new String(cache.getCredentials().getAccessKeyId(), StandardCharsets.UTF_8)
                .equals("key-2"));
  }

  /** The provider may have looked at the old ones before they were refused. */
  @Test
  void whoWantsOthersIsNotContentWithAQuestionOfBeforeTheRefusal() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    AtomicReference<String> valid = new AtomicReference<>("old");
    open(
        () -> {
          String found = valid.get();
          if (asked.get() == 2) {
            awaitQuietly(release);
          }
          return key(found);
        });
    readyOn();
    cache.suspect(System.nanoTime(), null);
    readyOn();
    awaitTrue("the provider is asked again", () -> asked.get() == 2);
    valid.set("new");
    cache.suspect(System.nanoTime(), "old");
    CompletableFuture<String> renewed = new CompletableFuture<>();
    cache.renew(false, () -> renewed.complete(cache.keyId()));
    assertThat(renewed).isNotDone();
    release.countDown();
    assertThat(renewed.get(10, TimeUnit.SECONDS)).isEqualTo("new");
    assertThat(asked).hasValue(3);
  }

  /** The provider has given the old key once more, while a request with it was under way. */
  @Test
  void aRefusedKeyIsSuspectedHoweverLateItWasAskedFor() throws Exception {
    AtomicReference<String> valid = new AtomicReference<>("old");
    open(() -> key(valid.get()));
    readyOn();
    final long sent = System.nanoTime();
    cache.suspect(sent, "old");
    CompletableFuture<String> first = new CompletableFuture<>();
    cache.renew(false, () -> first.complete(cache.keyId()));
    assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo("old");
    valid.set("new");
    cache.suspect(sent, "another");
    cache.renew(false, () -> assertThat(asked).as("nothing is suspected").hasValue(2));
    cache.suspect(sent, "old");
    CompletableFuture<String> renewed = new CompletableFuture<>();
    cache.renew(false, () -> renewed.complete(cache.keyId()));
    assertThat(renewed.get(10, TimeUnit.SECONDS)).isEqualTo("new");
  }

  @Test
  void aFailureIsToldAndNotRemembered() throws Exception {
    open(
        () -> {
          if (asked.get() == 1) {
            throw new IOException("not yet");
          }
          return key("key");
        });
    CompletableFuture<Exception> failure = new CompletableFuture<>();
    cache.whenReady(() -> failure.complete(null), failure::complete);
    assertThat(failure.get(10, TimeUnit.SECONDS)).hasMessage("not yet");
    readyOn();
  }

  @Test
  void aQuestionThatFindsNoThreadFailsAndTheNextOneIsAsked() throws Exception {
    open(() -> key("key"));
    withoutThreads = true;
    CompletableFuture<Exception> failure = new CompletableFuture<>();
    cache.whenReady(() -> failure.complete(null), failure::complete);
    assertThat(failure.get(10, TimeUnit.SECONDS)).hasMessageContaining("native thread");
    withoutThreads = false;
    readyOn();
    cache.suspect(System.nanoTime(), null);
    withoutThreads = true;
    assertThat(readyOn()).as("what is at hand serves").isSameAs(Thread.currentThread());
    assertThat(asked).hasValue(1);
  }

  @Test
  void anonymousCredentialsStayAnonymous() throws Exception {
    open(() -> null);
    readyOn();
    assertThat(cache.getCredentials().getAccessKeyId()).isNull();
  }

  @Test
  void aClosedCacheFailsThoseWhoWouldHaveToWait() {
    open(() -> key("key"));
    cache.close();
    CompletableFuture<Void> ready = new CompletableFuture<>();
    cache.whenReady(() -> ready.complete(null), ready::completeExceptionally);
    assertThat(ready).isCompletedExceptionally();
  }

  @Test
  void allWhoWaitAreToldWhateverOneOfThemThrows() throws Exception {
    CountDownLatch release = openHeld();
    CompletableFuture<Void> ready = new CompletableFuture<>();
    cache.whenReady(
        () -> {
          throw new OutOfMemoryError("as if");
        },
        ready::completeExceptionally);
    cache.whenReady(() -> ready.complete(null), ready::completeExceptionally);
    release.countDown();
    ready.get(10, TimeUnit.SECONDS);
  }

  /** A store refuses an object that is not to be read without a reason, whatever the key is. */
  @Test
  void whatIsAtHandServesOnWhereTheProviderFailsToRenewIt() throws Exception {
    openAndSuspectWhereTheProviderFailsFromNowOn();
    CompletableFuture<String> renewed = new CompletableFuture<>();
    cache.renew(false, () -> renewed.complete(cache.keyId()));
    assertThat(renewed.get(10, TimeUnit.SECONDS)).isEqualTo("key");
    assertThat(readyOn()).isSameAs(Thread.currentThread());
  }

  @Test
  void aProviderThatFailsIsNotAskedAtEachRequest() throws Exception {
    openAndSuspectWhereTheProviderFailsFromNowOn();
    awaitTrue(
        "it is asked in the background",
        () -> {
          readyOn();
          return asked.get() == 2;
        });
    for (int i = 0; i < 1_000; i++) {
      readyOn();
    }
    assertThat(asked).as("in 5 s once").hasValueLessThanOrEqualTo(3);
  }

  private void openAndSuspectWhereTheProviderFailsFromNowOn() throws Exception {
    open(
        () -> {
          if (asked.get() > 1) {
            throw new IOException("the token service is down");
          }
          return key("key");
        });
    readyOn();
    cache.suspect(System.nanoTime(), "key");
  }

  /** Its provider answers once the latch is open. */
  private CountDownLatch openHeld() {
    CountDownLatch release = new CountDownLatch(1);
    open(
        () -> {
          awaitQuietly(release);
          return key("key");
        });
    return release;
  }

  private void open(CredentialsSource source) {
    cache =
        new CredentialsCache(
            () -> {
              asked.incrementAndGet();
              return source.resolve();
            },
            Instant::now,
            this::ask);
  }

  private void ask(Runnable question) {
    if (withoutThreads) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    new Thread(
            () -> {
              question.run();
              answered.incrementAndGet();
            })
        .start();
  }

  private static Credentials key(String id) {
    return new Credentials(id, "secret", null, null);
  }

  /** Waits until there are credentials; the thread on which that was told. */
  private Thread readyOn() throws Exception {
    CompletableFuture<Thread> ready = new CompletableFuture<>();
    cache.whenReady(() -> ready.complete(Thread.currentThread()), ready::completeExceptionally);
    return ready.get(10, TimeUnit.SECONDS);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** All later questions would wait for the end of this one. */
  @Test
  void aFailureThatCannotBeSaidIsAnAnswer() throws Exception {
    open(
        () -> {
          if (asked.get() == 1) {
            throw new Unsayable();
          }
          return key("key");
        });
    CompletableFuture<Exception> failure = new CompletableFuture<>();
    cache.whenReady(() -> failure.complete(null), failure::complete);
    assertThat(failure.get(10, TimeUnit.SECONDS)).isNotNull();
    readyOn();
  }

  /** A rotation in which the token service is not there for a moment. */
  @Test
  void whatTheStoreHasNamedServesNoMoreWhereTheProviderFails() throws Exception {
    open(
        () -> {
          if (asked.get() == 2) {
            throw new IOException("the token service is down");
          }
          return key("key-" + asked.get());
        });
    readyOn();
    cache.suspect(System.nanoTime(), "key-1");
    CompletableFuture<String> renewed = new CompletableFuture<>();
    cache.renew(true, () -> renewed.complete(cache.keyId()));
    assertThat(renewed.get(10, TimeUnit.SECONDS)).isNull();
    readyOn();
    assertThat(cache.keyId()).isEqualTo("key-3");
  }
}
