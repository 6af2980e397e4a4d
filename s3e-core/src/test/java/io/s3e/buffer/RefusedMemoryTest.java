// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.ClientLimits;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The JVM gives less memory than the budget allows. */
class RefusedMemoryTest {
  private static final int BLOCK = 4 << 10;
  private static final int GIVEN = 8;
  private static final int ALLOWED = 64;
  private static final Need ONE = new Need(1, Need.MemoryKind.SHORT);
  private static final Object OBJECT = "object";

  private static List<Grant> guesses(Admission admission, Account account) {
    List<Grant> guesses = new ArrayList<>();
    Grant guess = admission.trySpeculate(account, OBJECT, ONE, Purpose.GUESS);
    for (; guess != null; guess = admission.trySpeculate(account, OBJECT, ONE, Purpose.GUESS)) {
      guesses.add(guess);
    }
    return guesses;
  }

  @Test
  void guessesLeaveReadersAnEighthOfWhatThereIs() throws Exception {
    MemoryBudget budget = new MemoryBudget((long) ALLOWED * BLOCK);
    CountingMemory memory = new CountingMemory(budget);
    try (BlockPool pool = new BlockPool(budget, BLOCK, ALLOWED, GIVEN * BLOCK, memory);
        Admission admission = new Admission(budget, pool, new BlockIndex());
        Account account =
            admission.account(admission.carrier(ClientLimits.copying(BLOCK, ALLOWED, 0)))) {
      Grant first = admission.trySpeculate(account, OBJECT, ONE, Purpose.GUESS);
      assertThat(first).isNotNull();
      memory.refuse(true);
      List<Grant> guesses = guesses(admission, account);
      assertThat(guesses).as("before the JVM has refused any").hasSize(GIVEN - 1);
      first.giveBack();
      guesses.forEach(Grant::giveBack);

      guesses = guesses(admission, account);
      assertThat(guesses).hasSize(GIVEN - 1);
      assertThat(admission.speculativeBytes(account)).isEqualTo((GIVEN - 1L) * BLOCK);
      Grant read = admission.await(account, OBJECT, ONE, () -> true);
      assertThat(read).as("the grant of a reader").isNotNull();
      read.giveBack();
      guesses.forEach(Grant::giveBack);

      memory.refuse(false);
      pool.trim();
      guesses = guesses(admission, account);
      assertThat(guesses).as("once the JVM has some").hasSize(ALLOWED - ALLOWED / 8);
      guesses.forEach(Grant::giveBack);
    }
  }
}
