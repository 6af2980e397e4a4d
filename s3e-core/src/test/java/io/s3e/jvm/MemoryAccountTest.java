package io.s3e.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class MemoryAccountTest {
  /** An engine that holds nothing but pooled buffers, and gives all of them back. */
  private static final class Pool {
    private final AtomicLong held = new AtomicLong();
    private MemoryShare share;

    static Pool ofJvm(long limit) {
      Pool pool = new Pool();
      pool.share = MemoryShare.ofJvm(limit, pool::giveBack, pool.held::get);
      return pool;
    }

    boolean take(long bytes) {
      boolean granted = share.reserve().test(bytes);
      held.addAndGet(granted ? bytes : 0);
      return granted;
    }

    void giveBack(long bytes) {
      held.addAndGet(-bytes);
      share.release().accept(bytes);
    }
  }

  @Test
  void anEngineGetsItsShareAndKeepsItAgainstOneThatHasMore() {
    Pool one = Pool.ofJvm(100);
    Pool two = Pool.ofJvm(1_000);
    try {
      assertThat(two.share.limit()).isEqualTo(100);
      assertThat(one.take(100)).isTrue();
      assertThat(two.take(1)).isFalse();
      two.share.claimShare().run();
      assertThat(one.held).hasValue(50);
      assertThat(one.take(10)).as("beyond its share, while another claims").isFalse();
      assertThat(two.take(50)).isTrue();
      assertThat(one.take(1)).as("beyond the limit").isFalse();
      two.share.claimShare().run();
      assertThat(one.held).as("no more than its share").hasValue(50);
      assertThat(two.share.share().getAsLong()).isEqualTo(50);
    } finally {
      one.share.leave().run();
      two.share.leave().run();
    }
  }

  @Test
  void aClientsMemoryIsClaimedOfAll() {
    Pool one = Pool.ofJvm(100);
    Pool two = Pool.ofJvm(100);
    Pool client = Pool.ofJvm(100);
    try {
      assertThat(one.take(40)).isTrue();
      assertThat(two.take(50)).isTrue();
      client.share.claim().accept(80);
      assertThat(one.held.get() + two.held.get()).isEqualTo(20);
      assertThat(one.take(1)).as("while all is claimed").isFalse();
      assertThat(client.share.reserve().test(80)).isTrue();
      assertThat(client.share.available().getAsLong()).isZero();
      client.share.release().accept(80);
      assertThat(one.take(1)).as("after the claim was met").isTrue();
    } finally {
      one.share.leave().run();
      two.share.leave().run();
      client.share.leave().run();
    }
  }

  @Test
  void aClosedAccountIsJoinedByNobody() {
    AtomicInteger closes = new AtomicInteger();
    MemoryAccount account = new MemoryAccount(100, closes::incrementAndGet);
    List<Runnable> leaves = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      leaves.add((Runnable) account.join(bytes -> {}, () -> 0).get(MemoryShare.LEAVE));
    }
    leaves.forEach(Runnable::run);
    leaves.forEach(Runnable::run);
    assertThat(closes).hasValue(1);
    assertThat(account.getEngines()).isZero();
    assertThat(account.join(bytes -> {}, () -> 0)).isNull();
  }

  public interface OtherMBean {
    int getNumber();
  }

  public static final class Other implements OtherMBean {
    @Override
    public int getNumber() {
      return 1;
    }
  }

  @Test
  void anEngineHasMemoryOfItsOwnWhereTheNameIsTaken() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(RegisteredAccount.NAME);
    server.registerMBean(new Other(), name);
    try {
      Pool one = Pool.ofJvm(100);
      assertThat(one.share.limit()).isEqualTo(100);
      assertThat(one.take(100)).isTrue();
      one.share.leave().run();
    } finally {
      server.unregisterMBean(name);
    }
  }
}
