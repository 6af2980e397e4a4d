// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.crt.CrtResource;

/** The machine and the versions that figures belong to. */
final class Environment {

  private static final String UNKNOWN = "n/a";

  private Environment() {}

  static Map<String, Object> describe() {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("processors", Runtime.getRuntime().availableProcessors());
    facts.put("processor", valueIn(Path.of("/proc/cpuinfo"), "model name"));
    facts.put("memoryMiB", physicalMemoryMebibytes());
    facts.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put("arch", System.getProperty("os.arch"));
    facts.put("jvm", System.getProperty("java.vm.name") + " " + System.getProperty("java.version"));
    facts.put("s3e", S3eCommit.find());
    facts.put("hadoop", org.apache.hadoop.util.VersionInfo.getVersion());
    facts.put("awsSdk", VersionInfo.SDK_VERSION);
    facts.put("awsCrt", CrtResource.class.getPackage().getImplementationVersion());
    facts.values().removeIf(value -> value == null);
    return facts;
  }

  private static Object physicalMemoryMebibytes() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean os
        ? os.getTotalMemorySize() >> 20
        : UNKNOWN;
  }

  private static String valueIn(Path file, String key) {
    try {
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith(key)) {
          return line.substring(line.indexOf(':') + 1).trim();
        }
      }
      return UNKNOWN;
    } catch (IOException notLinux) {
      return UNKNOWN;
    }
  }
}
