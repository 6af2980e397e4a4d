// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import java.lang.management.ManagementFactory;
import java.util.function.Function;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine's ledger, in the platform's MBean server under a name that no other engine has, and the
 * sink of its GETs. Closed once, when all GETs have ended.
 */
final class EngineGets implements GetsMBean, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineGets.class);

  final ExplainConfig config;
  final GetLedger ledger;
  private final @Nullable GetSink sink;
  private final Runnable hiding;

  EngineGets(ExplainConfig config) {
    this.config = config;
    this.sink = config.sink() == null ? null : config.sink().get();
    this.ledger = new GetLedger(config.keepsLatest(), sink);
    this.hiding = config.keepsLatest() ? show() : () -> {};
  }

  /** Shows the latest GETs, where there is JMX; what it returns ends that. */
  private Runnable show() {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      String id = Integer.toHexString(System.identityHashCode(ledger));
      ObjectName name = new ObjectName("io.s3e:type=Gets,engine=" + id);
      server.registerMBean(new StandardMBean(this, GetsMBean.class), name);
      return () -> hide(server, name);
    } catch (JMException | RuntimeException | LinkageError e) {
      LOG.debug("JMX does not show the latest GETs", e);
      return () -> {};
    }
  }

  private static void hide(MBeanServer server, ObjectName name) {
    try {
      server.unregisterMBean(name);
    } catch (JMException | RuntimeException e) {
      LOG.debug("{} stays in JMX", name, e);
    }
  }

  @Override
  public String[] getLatest() {
    return latest(GetRecord::toString);
  }

  @Override
  public String[] getLatestJson() {
    return latest(GetRecord::json);
  }

  private String[] latest(Function<GetRecord, String> line) {
    return ledger.latest(null, GetLedger.CAPACITY).stream().map(line).toArray(String[]::new);
  }

  @Override
  public void close() {
    hiding.run();
    ledger.close();
    if (sink != null) {
      sink.close();
    }
  }
}
