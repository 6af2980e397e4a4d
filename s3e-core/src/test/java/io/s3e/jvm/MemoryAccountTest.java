// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.Test;

class MemoryAccountTest {
  private static long ask(ToLongBiFunction<String, Long> share, String call, long bytes) {
    return share.applyAsLong(call, bytes);
  }

  /** An engine that holds nothing but pooled buffers, and gives all of them back. */
  private static final class Pool {
    private final AtomicLong held = new AtomicLong();
    private ToLongBiFunction<String, Long> share;

    static Pool ofJvm(long limit) {
      Pool pool = new Pool();
      pool.share = MemoryShare.ofJvm(limit, pool::giveBack, pool.held::get);
      return pool;
    }

    boolean take(long bytes) {
      boolean granted = ask(share, MemoryShare.RESERVE, bytes) == 1;
      held.addAndGet(granted ? bytes : 0);
      return granted;
    }

    void giveBack(long bytes) {
      held.addAndGet(-bytes);
      assertThat(ask(share, MemoryShare.RELEASE, bytes)).isZero();
    }
  }

  @Test
  void anEngineGetsItsShareAndKeepsItAgainstOneThatHasMore() {
    Pool one = Pool.ofJvm(100);
    Pool two = Pool.ofJvm(1_000);
    try {
      assertThat(ask(two.share, MemoryShare.LIMIT, 0)).isEqualTo(100);
      assertThat(one.take(100)).isTrue();
      assertThat(two.take(1)).isFalse();
      assertThat(ask(two.share, MemoryShare.CLAIM_SHARE, 0)).isZero();
      assertThat(one.held).hasValue(50);
      assertThat(one.take(10)).as("beyond its share, while another claims").isFalse();
      assertThat(two.take(50)).isTrue();
      assertThat(one.take(1)).as("beyond the limit").isFalse();
      assertThat(ask(two.share, MemoryShare.CLAIM_SHARE, 0)).isZero();
      assertThat(one.held).as("no more than its share").hasValue(50);
      assertThat(ask(two.share, MemoryShare.CLAIMABLE, 0)).isEqualTo(50);
    } finally {
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
      assertThat(ask(two.share, MemoryShare.LEAVE, 0)).isZero();
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
      assertThat(ask(client.share, MemoryShare.CLAIM, 80)).isZero();
      assertThat(one.held.get() + two.held.get()).isEqualTo(20);
      assertThat(one.take(1)).as("while all is claimed").isFalse();
      assertThat(one.take(0)).as("nothing is nobody's").isTrue();
      assertThat(ask(client.share, MemoryShare.RESERVE, 80)).isEqualTo(1);
      assertThat(ask(client.share, MemoryShare.AVAILABLE, 0)).isZero();
      assertThat(ask(client.share, MemoryShare.RELEASE, 80)).isZero();
      assertThat(one.take(1)).as("after the claim was met").isTrue();
    } finally {
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
      assertThat(ask(two.share, MemoryShare.LEAVE, 0)).isZero();
      assertThat(ask(client.share, MemoryShare.LEAVE, 0)).isZero();
    }
  }

  @Test
  void aClosedAccountIsJoinedByNobody() {
    AtomicInteger closes = new AtomicInteger();
    MemoryAccount account = new MemoryAccount(100, closes::incrementAndGet);
    List<ToLongBiFunction<String, Long>> engines = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      engines.add(account.join(bytes -> {}, () -> 0));
    }
    for (int i = 0; i < 2; i++) {
      engines.forEach(each -> assertThat(ask(each, MemoryShare.LEAVE, 0)).isZero());
    }
    assertThatIllegalArgumentException().isThrownBy(() -> ask(engines.get(0), "borrow", 1));
    assertThat(closes).hasValue(1);
    assertThat(account.getEngines()).isZero();
    assertThat(account.join(bytes -> {}, () -> 0)).isNull();
  }

  @Test
  @SuppressWarnings("BanJNDI") // The connector is this test's own, on loopback.
  void remoteCallersSeeAttributesAndCanDoNothing() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(RegisteredAccount.NAME);
    Pool one = Pool.ofJvm(100);
    JMXConnectorServer remote =
        JMXConnectorServerFactory.newJMXConnectorServer(
            new JMXServiceURL("service:jmx:rmi://127.0.0.1"), null, server);
    try {
      remote.start();
      try (JMXConnector connector = JMXConnectorFactory.connect(remote.getAddress())) {
        MBeanServerConnection caller = connector.getMBeanServerConnection();
        MBeanInfo info = caller.getMBeanInfo(name);
        assertThat(info.getOperations()).isEmpty();
        for (MBeanAttributeInfo attribute : info.getAttributes()) {
          assertThat(attribute.isWritable()).isFalse();
          assertThat(caller.getAttribute(name, attribute.getName())).isNotNull();
        }
        String[] types = {LongConsumer.class.getName(), LongSupplier.class.getName()};
        for (String operation : List.of("join", "joinByCalls")) {
          assertThatThrownBy(() -> caller.invoke(name, operation, new Object[2], types))
              .isInstanceOf(ReflectionException.class);
        }
        assertThat(caller.getAttribute(name, "Engines")).isEqualTo(1);
      }
      assertThat(one.take(100)).isTrue();
    } finally {
      remote.stop();
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
    }
    assertThat(server.isRegistered(name)).isFalse();
  }

  /** An engine whose class loader is closed: what it calls is not there. */
  private static ToLongBiFunction<String, Long> broken(ToLongBiFunction<String, Long> other) {
    return MemoryShare.ofJvm(
        ask(other, MemoryShare.LIMIT, 0),
        bytes -> {
          throw new NoClassDefFoundError("giveBack");
        },
        () -> {
          throw new NoClassDefFoundError("pooled");
        });
  }

  @Test
  void anEngineThatFailsStopsNobody() {
    Pool one = Pool.ofJvm(100);
    Pool two = Pool.ofJvm(100);
    ToLongBiFunction<String, Long> broken = broken(one.share);
    try {
      assertThat(ask(broken, MemoryShare.RESERVE, 10)).isEqualTo(1);
      assertThat(one.take(90)).isTrue();
      assertThat(ask(broken, MemoryShare.CLAIM, 10)).isZero();
      assertThat(one.held).hasValue(80);
      assertThat(ask(two.share, MemoryShare.CLAIM_SHARE, 0)).isZero();
      assertThat(two.take(10)).isTrue();
      assertThat(ask(two.share, MemoryShare.CLAIM, 100)).isZero();
      assertThat(one.held).as("what a healthy engine gives back").hasValue(0);
      assertThat(ask(two.share, MemoryShare.POOLED, 0)).isEqualTo(10);
      assertThat(ask(two.share, MemoryShare.CLAIMABLE, 0)).isEqualTo((100 - 10) / 3);
    } finally {
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
      assertThat(ask(two.share, MemoryShare.LEAVE, 0)).isZero();
      assertThat(ask(broken, MemoryShare.LEAVE, 0)).isZero();
    }
  }

  @Test
  void anEngineReleasesWhatItHasReservedAndNoMore() {
    Pool one = Pool.ofJvm(100);
    Pool two = Pool.ofJvm(100);
    try {
      assertThat(one.take(60)).isTrue();
      assertThat(two.take(40)).isTrue();
      for (long wrong : new long[] {-(1L << 40), -1, 41, Long.MIN_VALUE, Long.MAX_VALUE}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> ask(two.share, MemoryShare.RELEASE, wrong))
            .withMessageContaining(Long.toString(wrong));
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ask(two.share, MemoryShare.RESERVE, -1));
      assertThat(ask(one.share, MemoryShare.AVAILABLE, 0)).isZero();
      assertThatNullPointerException().isThrownBy(() -> MemoryShare.alone(1, null, () -> 0));
      assertThatNullPointerException().isThrownBy(() -> MemoryShare.alone(1, bytes -> {}, null));
    } finally {
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
      assertThat(ask(two.share, MemoryShare.LEAVE, 0)).isZero();
    }
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
      assertThat(ask(one.share, MemoryShare.LIMIT, 0)).isEqualTo(100);
      assertThat(one.take(100)).isTrue();
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
    } finally {
      server.unregisterMBean(name);
    }
  }

  @Test
  void whoLeavesTakesItsClaimAlong() {
    Pool one = Pool.ofJvm(100);
    ToLongBiFunction<String, Long> two = MemoryShare.ofJvm(100, bytes -> {}, () -> 0);
    try {
      assertThat(one.take(60)).isTrue();
      assertThat(ask(two, MemoryShare.CLAIM, 90)).isZero();
      one.giveBack(one.held.get());
      assertThat(one.take(1)).as("while all is claimed").isFalse();
      assertThat(ask(two, MemoryShare.LEAVE, 0)).isZero();
      assertThat(one.take(1)).isTrue();
    } finally {
      assertThat(ask(one.share, MemoryShare.LEAVE, 0)).isZero();
    }
  }
}
