// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.jspecify.annotations.Nullable;

/**
 * The latest GETs of a JVM that runs, as its engines of S3E remember them, and their sums by what
 * they were for.
 *
 * @param engines how many remember GETs: one for each class loader that S3E reads in
 * @param reasons the dearest first
 * @param gets the latest first
 */
public record LiveGets(long pid, int engines, List<Reason> reasons, List<Get> gets) {
  private static final String ENGINES = "io.s3e:type=Gets,*";
  private static final String LATEST = "LatestJson";

  /** One GET, as S3E's lines tell of it: docs/EXPLAIN.md. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Get(
      long id,
      String time,
      String bucket,
      String key,
      @Nullable String etag,
      long start,
      long end,
      String reason,
      int attempt,
      long stream,
      @Nullable String label,
      String state,
      int sent,
      @Nullable Double answeredMillis,
      @Nullable Double tookMillis,
      long received,
      long used,
      long wasted,
      long held,
      @Nullable String requestId,
      @Nullable String failure) {}

  /** The sums of all GETs for one reason. */
  public record Reason(
      String reason, long gets, long sent, long received, long used, long wasted, long held) {
    private static Reason of(Get get) {
      return new Reason(get.reason, 1, get.sent, get.received, get.used, get.wasted, get.held);
    }

    private Reason with(Reason other) {
      return new Reason(
          reason,
          gets + other.gets,
          sent + other.sent,
          received + other.received,
          used + other.used,
          wasted + other.wasted,
          held + other.held);
    }
  }

  /**
   * Asks the JVM, which has to be this user's.
   *
   * @throws IOException if there is none, or it does not let itself be asked
   */
  // The address is of a JVM on this host, of this user, and holds the stub of its server.
  @SuppressWarnings("BanJNDI")
  public static LiveGets of(long pid) throws IOException {
    try (JMXConnector connector = JMXConnectorFactory.connect(address(pid))) {
      MBeanServerConnection server = connector.getMBeanServerConnection();
      List<Get> gets = new ArrayList<>();
      int engines = 0;
      for (ObjectName engine : server.queryNames(new ObjectName(ENGINES), null)) {
        try {
          for (String line : (String[]) server.getAttribute(engine, LATEST)) {
            gets.add(new ObjectMapper().readValue(line, Get.class));
          }
          engines++;
        } catch (InstanceNotFoundException e) {
          // It has ended since it was listed.
          continue;
        }
      }
      gets.sort(
          Comparator.<Get, Instant>comparing(get -> Instant.parse(get.time))
              .thenComparing(Get::id)
              .reversed());
      return new LiveGets(pid, engines, byReason(gets), gets);
    } catch (JMException e) {
      throw new IOException("JVM " + pid + " does not tell of its GETs: " + e.getMessage(), e);
    }
  }

  private static JMXServiceURL address(long pid) throws IOException {
    try {
      if (!isJvm(pid)) {
        throw new IOException(
            ProcessHandle.of(pid).isPresent() ? "it is no JVM" : "there is no such process");
      }
      VirtualMachine jvm = VirtualMachine.attach(Long.toString(pid));
      try {
        return new JMXServiceURL(jvm.startLocalManagementAgent());
      } finally {
        jvm.detach();
      }
    } catch (AttachNotSupportedException | IOException e) {
      throw new IOException(
          "Process "
              + pid
              + " cannot be asked: "
              + e.getMessage()
              + "; it has to be a JVM of this user's",
          e);
    } catch (LinkageError e) {
      throw new IOException("This Java cannot ask others (no module jdk.attach): use a JDK", e);
    }
  }

  /** One that is asked and is no JVM ends: the question begins with a signal. */
  private static boolean isJvm(long pid) {
    return VirtualMachine.list().stream().anyMatch(jvm -> jvm.id().equals(Long.toString(pid)))
        || ProcessHandle.of(pid)
            .flatMap(process -> process.info().command())
            .filter(command -> Path.of(command).getFileName().toString().contains("java"))
            .isPresent();
  }

  private static List<Reason> byReason(List<Get> gets) {
    Map<String, Reason> reasons = new TreeMap<>();
    gets.forEach(get -> reasons.merge(get.reason, Reason.of(get), Reason::with));
    return reasons.values().stream()
        .sorted(Comparator.comparingLong(Reason::received).reversed())
        .toList();
  }

  /** The sums of all. */
  public Reason total() {
    return reasons.stream().reduce(new Reason("all", 0, 0, 0, 0, 0, 0), Reason::with);
  }
}
