// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.block.ObjectRef;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Admission of a GET of one block where there is room, and the return of what it was granted. */
@State(Scope.Benchmark)
public class AdmissionBenchmark extends CallTimeByThreads {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int BLOCKS = 256;
  private static final int GETS = 64;
  private static final Object OBJECT = new ObjectRef("bucket", "key");
  private static final Need ONE_BLOCK = new Need(1, Need.MemoryKind.SHORT);

  private final MemoryBudget budget = new MemoryBudget((long) BLOCKS * BLOCK_BYTES);
  private BlockPool pool = newPool();
  private Admission admission = newAdmission();
  private Account account = newAccount();

  private BlockPool newPool() {
    return new BlockPool(budget, BLOCK_BYTES, BLOCKS);
  }

  private Admission newAdmission() {
    return new Admission(budget, pool, new BlockIndex());
  }

  private Account newAccount() {
    return admission.account(admission.carrier(ClientLimits.copying(BLOCK_BYTES, GETS, 0)));
  }

  @Setup
  public void prepare() {
    pool.close();
    pool = newPool();
    admission = newAdmission();
    account = newAccount();
  }

  @TearDown
  public void close() {
    admission.close();
    pool.close();
  }

  @Override
  boolean call() {
    Grant grant = admission.trySpeculate(account, OBJECT, ONE_BLOCK, Purpose.ASKED);
    if (grant == null) {
      throw new IllegalStateException("there is room for more GETs than there are threads");
    }
    grant.leases().forEach(grant::release);
    grant.leaveLane();
    return true;
  }
}
