// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An engine's ledger in the platform's MBean server, under a name that no other engine has. */
record ShownGets(GetLedger ledger) implements GetsMBean {
  private static final Logger LOG = LoggerFactory.getLogger(ShownGets.class);

  /**
   * Shows the latest GETs, where there is JMX.
   *
   * @return ends that
   */
  static Runnable show(GetLedger ledger) {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      String id = Integer.toHexString(System.identityHashCode(ledger));
      ObjectName name = new ObjectName("io.s3e:type=Gets,engine=" + id);
      server.registerMBean(new StandardMBean(new ShownGets(ledger), GetsMBean.class), name);
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
    return ledger.latest(null, GetLedger.CAPACITY).stream()
        .map(GetRecord::toString)
        .toArray(String[]::new);
  }
}
