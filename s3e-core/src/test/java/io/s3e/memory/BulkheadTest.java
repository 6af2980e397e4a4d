// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.memory.Need.MemoryKind;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Objects and GETs that hang leave places to the others. */
@Timeout(60)
class BulkheadTest {
  private static final int BLOCK = 4 << 10;
  private static final int PLACES = 8;
  private static final int OVERDUE = 2;
  private static final Need ONE = new Need(1, MemoryKind.SHORT);
  private static final Object HANGING = "hanging";
  private static final Object HEALTHY = "healthy";

  private final MemoryBudget budget = new MemoryBudget(64L * BLOCK);
  private final BlockPool pool = new BlockPool(budget, BLOCK, 64);
  private final Admission admission = new Admission(budget, pool, new BlockIndex());
  private final Carrier carrier =
      admission.carrier(new ClientLimits(BLOCK, PLACES, OVERDUE, 0, 0, 0));
  private final Account account = admission.account(carrier);
  private final List<Grant> held = new ArrayList<>();
  private final List<BlockLease> leases = new ArrayList<>();

  @AfterEach
  void everyPlaceComesBack() {
    for (Grant grant : held) {
      end(grant);
    }
    assertThat(carrier.copies.held()).isZero();
    assertThat(carrier.copiesByObject.held).isEmpty();
    assertThat(carrier.copiesByObject.silentPlaces).isZero();
    assertThat(account.copies.get()).isZero();
    for (int i = 0; i < OVERDUE; i++) {
      assertThat(carrier.copies.tryAddOverdue()).isTrue();
    }
    carrier.close();
    admission.close();
    pool.close();
  }

  private static void end(Grant grant) {
    grant.leases().forEach(grant::release);
    grant.leaveLane();
  }

  private Grant demand(Object object, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    return admission.await(account, object, ONE, () -> System.nanoTime() - deadline >= 0);
  }

  private Grant take(Object object) throws InterruptedException {
    Grant grant = demand(object, 0);
    assertThat(grant).isNotNull();
    held.add(grant);
    return grant;
  }

  private void refuse(Object object) throws InterruptedException {
    assertThat(demand(object, 0)).isNull();
  }

  private CompletableFuture<Grant> async(Object object) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return demand(object, 50_000);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        },
        task -> new Thread(task).start());
  }

  /** Eviction runs code of others; the check after each test finds a place that is lost. */
  @Test
  void aPlaceComesBackWhenMakingRoomFails() throws Exception {
    for (BlockLease lease = pool.tryAcquire(); lease != null; lease = pool.tryAcquire()) {
      leases.add(lease);
    }
    TestBlocks.Fetched fetched = new TestBlocks.Fetched(1, 1);
    admission
        .pooled()
        .publish(
            fetched.blocks,
            List.of(),
            fetched.memory,
            () -> {
              throw new NoClassDefFoundError("of a class loader that is closed");
            });
    assertThat(TestBlocks.tryRead(fetched.block())).isTrue();
    assertThatThrownBy(() -> demand(HEALTHY, 0)).isInstanceOf(NoClassDefFoundError.class);
    assertThat(carrier.copies.held()).isZero();
    leases.forEach(BlockLease::release);
    take(HEALTHY);
  }

  /** Stands for a heap that has no room for the list of buffers. */
  @Test
  void aPlaceComesBackWhereItsBuffersCannotBeListed() {
    Need impossible = new Need(-1, MemoryKind.SHORT);
    assertThatThrownBy(() -> admission.await(account, HEALTHY, impossible, () -> true))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(carrier.copies.held()).isZero();
  }

  /** Who lacked memory, and lacks a place by now, is no reason to refuse guesses. */
  @Test
  void aReaderThatOthersPassByRefusesNobodysGuesses() throws Exception {
    Carrier others = admission.carrier(new ClientLimits(BLOCK, PLACES, OVERDUE, 0, 0, 0));
    Account guessing = admission.account(others);
    for (int i = 0; i < PLACES / 2; i++) {
      take(HANGING);
    }
    for (BlockLease lease = pool.tryAcquire(); lease != null; lease = pool.tryAcquire()) {
      leases.add(lease);
    }
    CompletableFuture<Grant> hanging = async(HANGING);
    awaitTrue("it lacks memory", account::isLackingMemory);
    assertThat(admission.trySpeculate(guessing, HEALTHY, ONE, Purpose.GUESS)).isNull();

    int places = placesLeft();
    CompletableFuture<Grant> healthy = async(HEALTHY);
    awaitTrue("both wait", () -> Counts.waiting(account) == 2);
    // The first may have held one while it looked.
    places += placesLeft();
    leases.forEach(BlockLease::release);
    List<Grant> guesses = new ArrayList<>();
    awaitTrue(
        "a guess is granted",
        () -> {
          Grant guess = admission.trySpeculate(guessing, HEALTHY, ONE, Purpose.GUESS);
          return guess != null && guesses.add(guess);
        });
    end(guesses.get(0));
    for (int i = 0; i < places; i++) {
      carrier.copies.leave();
    }
    end(healthy.get(20, TimeUnit.SECONDS));
    held.forEach(BulkheadTest::end);
    held.clear();
    end(hanging.get(20, TimeUnit.SECONDS));
    guessing.close();
    others.close();
  }

  /** What has been read may go for it once it has a place. */
  @Test
  void aReaderThatLacksAPlaceAloneRefusesNobodysGuesses() throws Exception {
    Carrier others = admission.carrier(new ClientLimits(BLOCK, PLACES, OVERDUE, 0, 0, 0));
    Account guessing = admission.account(others);
    for (int i = 0; i < PLACES; i++) {
      take(HANGING);
    }
    for (BlockLease lease = pool.tryAcquire(); lease != null; lease = pool.tryAcquire()) {
      TestBlocks.Fetched read = new TestBlocks.Fetched(1, 1);
      admission.pooled().publish(read.blocks, List.of(), read.memory, lease::release);
      assertThat(TestBlocks.tryRead(read.block())).isTrue();
    }
    CompletableFuture<Grant> healthy = async(HEALTHY);
    awaitTrue("it waits", () -> Counts.waiting(account) == 1);
    for (int look = 0; look < 5; look++) {
      Pause.millis(20, "the reader looks again");
      Grant guess = admission.trySpeculate(guessing, HEALTHY, ONE, Purpose.GUESS);
      assertThat(guess).isNotNull();
      end(guess);
    }
    end(held.remove(0));
    end(healthy.get(20, TimeUnit.SECONDS));
    guessing.close();
    others.close();
  }

  /** Takes all places that are left; how many. */
  private int placesLeft() {
    int places = 0;
    while (carrier.copies.tryEnter(0)) {
      places++;
    }
    return places;
  }

  /** Two tenants: what a reader gives back that it could not use is no reason for the other. */
  @Test
  void readersThatFindNoMemoryDoNotWakeEachOther() throws Exception {
    for (BlockLease lease = pool.tryAcquire(); lease != null; lease = pool.tryAcquire()) {
      leases.add(lease);
    }
    Account other = admission.account(carrier);
    AtomicInteger looks = new AtomicInteger();
    List<CompletableFuture<Grant>> readers = new ArrayList<>();
    for (Account each : List.of(account, other)) {
      readers.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return admission.await(each, HEALTHY, ONE, () -> looks.incrementAndGet() < 0);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              },
              task -> new Thread(task).start()));
    }
    awaitTrue("both wait", () -> Counts.waiting(account, other) == 2);
    int before = looks.get();
    Pause.millis(400, "how often both look");
    assertThat(looks.get() - before).as("two, each 20 ms").isLessThan(150);
    leases.forEach(BlockLease::release);
    for (CompletableFuture<Grant> reader : readers) {
      end(reader.get(20, TimeUnit.SECONDS));
    }
    other.close();
  }

  @Test
  void aReaderOfASilentObjectKeepsNobodysGuessesBack() throws Exception {
    hang();
    take("hanging 0");
    take("hanging 1");
    CompletableFuture<Grant> waiting = async("hanging 3");
    awaitTrue("it waits", () -> Counts.waiting(account) == 1);
    Grant guess = admission.trySpeculate(account, HEALTHY, ONE, Purpose.GUESS);
    assertThat(guess).isNotNull();
    end(guess);
    account.close();
    assertThat(waiting.get(20, TimeUnit.SECONDS)).isNull();
  }

  /** Such readers have all that they may have, whether their GETs are late or not. */
  @Test
  void readersThatQueueForOneObjectKeepNobodysGuessesBack() throws Exception {
    take(HEALTHY);
    for (int i = 0; i < PLACES / 2; i++) {
      take("busy");
    }
    List<CompletableFuture<Grant>> queueing = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      queueing.add(async("busy"));
    }
    awaitTrue("all wait", () -> Counts.waiting(account) == queueing.size());
    Grant guess = admission.trySpeculate(account, HEALTHY, ONE, Purpose.GUESS);
    assertThat(guess).isNotNull();
    end(guess);
    account.close();
    for (CompletableFuture<Grant> each : queueing) {
      assertThat(each.get(20, TimeUnit.SECONDS)).isNull();
    }
  }

  /** To evict what is not enough for a guess costs readers what they may read again. */
  @Test
  void aGuessThatCannotBeServedEvictsNothing() throws Exception {
    int read = 4;
    TestBlocks.Fetched[] fetched = new TestBlocks.Fetched[read];
    for (int i = 0; i < read; i++) {
      BlockLease lease = pool.tryAcquire();
      fetched[i] = new TestBlocks.Fetched(1, 1);
      admission.pooled().publish(fetched[i].blocks, List.of(), fetched[i].memory, lease::release);
      assertThat(TestBlocks.tryRead(fetched[i].block())).isTrue();
    }
    for (BlockLease lease = pool.tryAcquire(); lease != null; lease = pool.tryAcquire()) {
      leases.add(lease);
    }
    Need more = new Need(read + 1, MemoryKind.SHORT);
    assertThat(admission.trySpeculate(account, HEALTHY, more, Purpose.GUESS)).isNull();
    assertThat(fetched).allMatch(each -> TestBlocks.tryRead(each.block()));
    // As many as there are beyond the reserve.
    leases.subList(0, Lane.reserve(64)).forEach(BlockLease::release);
    Need enough = new Need(read, MemoryKind.SHORT);
    Grant guess = admission.trySpeculate(account, HEALTHY, enough, Purpose.GUESS);
    assertThat(guess).isNotNull();
    assertThat(fetched).noneMatch(each -> TestBlocks.tryRead(each.block()));
    end(guess);
    leases.subList(Lane.reserve(64), leases.size()).forEach(BlockLease::release);
  }

  @Test
  void anObjectThatIsAloneHasTheWholeLane() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      take(HANGING);
    }
    refuse(HANGING);
  }

  @Test
  void anObjectHasHalfOfTheLaneWhereAnotherIsRead() throws Exception {
    take(HEALTHY);
    for (int i = 0; i < PLACES / 2; i++) {
      take(HANGING);
    }
    refuse(HANGING);
    assertThat(admission.trySpeculate(account, HANGING, ONE, Purpose.ASKED)).isNull();
    for (int i = 1; i < PLACES / 2; i++) {
      take(HEALTHY);
    }
  }

  @Test
  void readersOfAnObjectWithItsHalfDoNotStandInTheWayOfOthers() throws Exception {
    take(HEALTHY);
    for (int i = 0; i < PLACES / 2; i++) {
      take(HANGING);
    }
    CompletableFuture<Grant> behind = async(HANGING);
    awaitTrue(() -> Counts.waiting(account) == 1);
    held.add(async(HEALTHY).get(20, TimeUnit.SECONDS));
    assertThat(behind).isNotDone();
    end(held.remove(1));
    held.add(behind.get(20, TimeUnit.SECONDS));
  }

  @Test
  void overdueGetsLeaveTheirPlacesAsManyAsTheClientCarries() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      take(HANGING);
    }
    for (int i = 0; i < OVERDUE; i++) {
      refuse(HEALTHY);
      assertThat(held.get(i).overdue()).isTrue();
      assertThat(held.get(i).overdue()).as("a second time").isTrue();
      take(HEALTHY);
    }
    assertThat(held.get(OVERDUE).overdue()).as("one more").isFalse();
    refuse(HEALTHY);
    end(held.remove(0));
    refuse(HEALTHY);
    assertThat(held.get(OVERDUE).overdue()).as("after one was over").isTrue();
    take(HEALTHY);
  }

  /** Takes the whole lane for as many objects, all of whose GETs become late. */
  private void hang() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      take("hanging " + i);
    }
    for (int i = 0; i < PLACES; i++) {
      assertThat(held.get(i).overdue()).isEqualTo(i < OVERDUE);
    }
    held.subList(OVERDUE, PLACES).forEach(Grant::pause);
    assertThat(carrier.copies.held()).isZero();
  }

  @Test
  void whereMuchHangsSilentObjectsHaveAQuarterOfTheLane() throws Exception {
    hang();
    for (int i = 0; i < PLACES / 4; i++) {
      take("hanging " + i);
    }
    refuse("hanging 3");
    CompletableFuture<Grant> silent = async("hanging 3");
    awaitTrue(() -> Counts.waiting(account) == 1);
    for (int i = PLACES / 4; i < PLACES; i++) {
      held.add(async("never read " + i).get(20, TimeUnit.SECONDS));
    }
    end(held.remove(held.size() - 1));
    assertThat(silent).isNotDone();

    // As soon as it answers it is an object like others.
    carrier.answered("hanging 3");
    held.add(silent.get(20, TimeUnit.SECONDS));
  }

  @Test
  void anObjectThatAnswersWhileItHoldsPlacesIsSilentNoLonger() throws Exception {
    hang();
    take("hanging 0");
    take("hanging 0");
    assertThat(carrier.copiesByObject.silentPlaces).isEqualTo(2);
    carrier.answered("hanging 0");
    assertThat(carrier.copiesByObject.silentPlaces).isZero();
    carrier.copiesByObject.late("hanging 0");
    assertThat(carrier.copiesByObject.silentPlaces).isEqualTo(2);
  }

  @Test
  void whereLittleHangsSilentObjectsHaveTheWholeLane() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      take("new " + i);
    }
    for (int i = 1; i < OVERDUE; i++) {
      assertThat(held.get(i).overdue()).isTrue();
      take("new " + i);
    }
    for (int i = 2; i < PLACES; i++) {
      carrier.copiesByObject.late("new " + i);
    }
    held.get(PLACES - 1).pause();
    take("new 2");
    assertThat(carrier.copies.held()).isEqualTo(PLACES);
  }

  @Test
  void anObjectThatDoesNotAnswerIsLentNoSlot() throws Exception {
    Carrier lending =
        admission.carrier(new ClientLimits(BLOCK, PLACES, 0, 4 * BLOCK, 2, 8L * BLOCK));
    Account tenant = admission.account(lending);
    Need slot = new Need(1, MemoryKind.LONG);
    lending.copiesByObject.late(HANGING);
    assertThat(admission.trySpeculate(tenant, HANGING, slot, Purpose.GUESS)).isNull();
    lending.answered(HANGING);
    Grant grant = admission.trySpeculate(tenant, HANGING, slot, Purpose.ASKED);
    assertThat(grant).isNotNull();
    assertThat(grant.isLent()).isTrue();
    end(grant);
    tenant.close();
    lending.close();
  }

  @Test
  void runsThatPauseHoldNoPlaceAndComeBackBesideTheLane() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      take(HANGING).pause();
    }
    assertThat(carrier.copies.held()).isZero();
    for (int i = 0; i < PLACES; i++) {
      take(HEALTHY);
    }
    for (int i = 0; i < PLACES; i++) {
      assertThat(held.get(i).resume()).as("retry %s", i).isEqualTo(i < OVERDUE);
    }
    held.get(0).pause();
    assertThat(held.get(PLACES - 1).resume()).isTrue();
    assertThat(carrier.copies.held()).isEqualTo(PLACES);
  }

  @Test
  void runsOfObjectsThatDoNotAnswerComeBackIntoAQuarterOfTheLane() throws Exception {
    for (int i = 0; i < PLACES; i++) {
      take("hanging " + i).pause();
      carrier.copiesByObject.late("hanging " + i);
    }
    for (int i = 0; i < PLACES; i++) {
      assertThat(held.get(i).resume()).as("retry %s", i).isEqualTo(i < OVERDUE + PLACES / 4);
    }
    assertThat(carrier.copies.held()).isEqualTo(PLACES / 4);
  }

  /** One reset is no reason to stand behind GETs that hang, and behind guesses. */
  @Test
  void aRunOfAnObjectThatAnswersComesBackAsAReaderDoes() throws Exception {
    for (int i = 0; i < OVERDUE; i++) {
      assertThat(take("hanging " + i).overdue()).isTrue();
    }
    Grant failed = take(HEALTHY);
    failed.pause();
    for (int i = 1; i < PLACES; i++) {
      take("healthy " + i);
    }
    assertThat(admission.trySpeculate(account, "guess", ONE, Purpose.GUESS))
        .as("one place is left, for readers")
        .isNull();
    assertThat(failed.resume()).isTrue();
    assertThat(carrier.copies.held()).isEqualTo(PLACES);
    refuse("another");
  }

  @Test
  void aClientThatCarriesNoMoreHasARunKeepItsPlace() throws Exception {
    Carrier tight = admission.carrier(ClientLimits.copying(BLOCK, 1, 0));
    Account tenant = admission.account(tight);
    Grant grant = admission.trySpeculate(tenant, HANGING, ONE, Purpose.ASKED);
    assertThat(grant).isNotNull();
    assertThat(grant.overdue()).isFalse();
    grant.pause();
    assertThat(tight.copies.held()).isEqualTo(1);
    assertThat(grant.resume()).isTrue();
    end(grant);
    assertThat(tight.copies.held()).isZero();
  }

  @Test
  void aGrantLeavesOnce() throws Exception {
    Grant grant = take(HEALTHY);
    held.remove(grant);
    end(grant);
    assertThatIllegalStateException().isThrownBy(grant::leaveLane);
    assertThat(grant.overdue()).isTrue();
    grant.pause();
    assertThat(grant.resume()).isTrue();
  }

  @Test
  @Slow
  void lookingOverdueWhileTheRunEndsCountsOnce() throws Exception {
    for (int round = 0; round < 2_000; round++) {
      Grant grant = demand(HEALTHY, 1_000);
      AtomicBoolean go = new AtomicBoolean();
      CompletableFuture<Void> timer =
          CompletableFuture.runAsync(
              () -> {
                while (!go.get()) {
                  Thread.onSpinWait();
                }
                grant.overdue();
              });
      go.set(true);
      end(grant);
      timer.get(10, TimeUnit.SECONDS);
      assertThat(carrier.copies.held()).isZero();
    }
  }
}
