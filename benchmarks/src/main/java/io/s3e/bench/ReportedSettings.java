// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.raw.RawCeiling;
import io.s3e.bench.workload.WorkloadKind;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The options that the figures of a report belong to. */
final class ReportedSettings {

  /** Entries that are nobody's business. */
  private static final Pattern SECRET =
      Pattern.compile("secret|token|password|\\.key", Pattern.CASE_INSENSITIVE);

  /** Figures do not depend on other settings of a user's core-site.xml. */
  private static final String OF_S3E = "fs.s3a.s3e.";

  private ReportedSettings() {}

  /** The options of the job, by name. */
  static Map<String, Object> ofJob(JobOptions options, Target target) {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("target", target.description());
    settings.put("rounds", options.rounds());
    settings.put("warmUp", options.warmUp().toMillis() + " ms");
    settings.put("steadyShare", options.steadyShare());
    settings.put("warmUpBytes", options.warmUpBytes());
    settings.put("coldJvms", options.coldJvms());
    settings.put("bytes", options.bytes());
    settings.put("randomBytes", options.randomBytes());
    settings.put("seekBytes", options.seekBytes());
    settings.put("smallObjects", options.smallObjects());
    settings.put("files", options.files());
    settings.put("parquetScale", options.parquetScale());
    settings.put("heap", options.heap());
    settings.put("jvmOptions", String.join(" ", options.jvmOptions()));
    settings.put("readDeadline", options.readDeadline().toSeconds() + " s");
    settings.put("stagger", options.stagger().toMillis() + " ms");
    settings.put("pageCacheDropped", options.pageCacheDropped());
    Map<String, String> ofS3e = withoutSecrets(options.hadoop());
    ofS3e.keySet().removeIf(key -> !key.startsWith(OF_S3E));
    settings.put("s3e", ofS3e);
    return settings;
  }

  /** The settings of each engine, by workload where that makes a difference; secrets left out. */
  static Map<String, Object> ofEngines(JobOptions options) {
    Map<String, Object> engines = new LinkedHashMap<>();
    for (Engine engine : options.engines()) {
      Map<String, Map<String, String>> byWorkload = new LinkedHashMap<>();
      for (WorkloadKind workload : options.workloads()) {
        if (options.enginesOf(workload).contains(engine)) {
          byWorkload.put(workload.label(), withoutSecrets(engine.settings(workload)));
        }
      }
      if (engine instanceof Engine.RawEngine raw) {
        engines.put(
            raw.name(),
            Map.of(
                "client", raw.ceiling().client().label(),
                "inFlight", raw.ceiling().inFlight(),
                "rangeBytes", RawCeiling.RANGE_BYTES));
        continue;
      }
      boolean alike = byWorkload.values().stream().distinct().count() <= 1;
      engines.put(engine.name(), alike ? withoutSecrets(engine.settings()) : byWorkload);
    }
    return engines;
  }

  private static Map<String, String> withoutSecrets(Map<String, String> settings) {
    Map<String, String> shown = new TreeMap<>(settings);
    shown.keySet().removeIf(key -> SECRET.matcher(key).find());
    return shown;
  }
}
