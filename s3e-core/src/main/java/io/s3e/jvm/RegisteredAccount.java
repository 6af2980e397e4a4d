// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The account of this JVM in the platform's MBean server, the one place that all class loaders see
 * and where one name stands for one object. The first engine registers it, and the last one takes
 * it out. Until then it keeps the class loader of the first engine, never more than that one.
 *
 * <p>Apart from its users, so that these load where there is no JMX.
 */
final class RegisteredAccount {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredAccount.class);

  static final String NAME = "io.s3e:type=MemoryAccount";

  /** The account is closed for a moment before it is taken out. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  /** The account that this class loader has registered, until it is taken out. */
  private static volatile @Nullable MemoryAccount own;

  private RegisteredAccount() {}

  /** Throws {@link IllegalStateException} if it can neither join the account nor register it. */
  static ToLongBiFunction<String, Long> join(
      long limit, LongConsumer giveBack, LongSupplier pooled) {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      ObjectName name = new ObjectName(NAME);
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (System.nanoTime() - deadline < 0) {
        ToLongBiFunction<String, Long> joined =
            server.isRegistered(name)
                ? joinAt(server, name, giveBack, pooled)
                : register(server, name, limit, giveBack, pooled);
        if (joined != null) {
          return joined;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      throw new IllegalStateException("closed, and still registered");
    } catch (JMException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Joins the account of this class loader: {@link MemoryAccount#join}. Called by its name, from
   * other class loaders; null if there is none now.
   */
  static @Nullable ToLongBiFunction<String, Long> joinByCalls(
      LongConsumer giveBack, LongSupplier pooled) {
    MemoryAccount account = own;
    return account == null ? null : account.join(giveBack, pooled);
  }

  @SuppressWarnings("unchecked") // What a method of that name returns.
  private static @Nullable ToLongBiFunction<String, Long> joinAt(
      MBeanServer server, ObjectName name, LongConsumer giveBack, LongSupplier pooled)
      throws JMException {
    try {
      if (!server.isInstanceOf(name, MemoryAccountMBean.class.getName())) {
        throw new IllegalStateException("another MBean has the name");
      }
      Method join =
          Class.forName(RegisteredAccount.class.getName(), false, server.getClassLoaderFor(name))
              .getDeclaredMethod("joinByCalls", LongConsumer.class, LongSupplier.class);
      join.setAccessible(true);
      return (ToLongBiFunction<String, Long>) join.invoke(null, giveBack, pooled);
    } catch (InstanceNotFoundException e) {
      return null;
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new IllegalStateException("the account of another class loader cannot be joined", e);
    }
  }

  private static @Nullable ToLongBiFunction<String, Long> register(
      MBeanServer server, ObjectName name, long limit, LongConsumer giveBack, LongSupplier pooled)
      throws JMException {
    MemoryAccount account = new MemoryAccount(limit, () -> unregister(server, name));
    ToLongBiFunction<String, Long> joined = account.join(giveBack, pooled);
    try {
      server.registerMBean(account, name);
      own = account;
      return joined;
    } catch (InstanceAlreadyExistsException e) {
      return null;
    }
  }

  private static void unregister(MBeanServer server, ObjectName name) {
    // Before another takes the name, or the account of this loader would be forgotten.
    own = null;
    try {
      server.unregisterMBean(name);
    } catch (JMException | RuntimeException e) {
      LOG.warn("{} stays registered after the last engine", NAME, e);
    }
  }
}
