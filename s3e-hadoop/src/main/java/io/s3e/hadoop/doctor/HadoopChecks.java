// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ConfiguredBuckets;
import io.s3e.hadoop.conf.ExplainSetting;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.hadoop.doctor.Report.Section;
import io.s3e.hadoop.setup.Requirements;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/** All that Hadoop's classes are needed for. */
final class HadoopChecks {
  private HadoopChecks() {}

  static void run(Arguments arguments, ClassPath classPath, Report report) {
    Requirements libraries = Requirements.found();
    // What is not there at all has its line, and its remedy, from the class path's checks.
    List<String> unfit = libraries.unfitVersions();
    if (!unfit.isEmpty()) {
      report
          .in(Section.CLASS_PATH)
          .todo(
              "S3E cannot read here",
              String.join("; ", unfit),
              "Put on the class path: " + Requirements.NEEDED);
    }
    if (!classPath.has(Library.HADOOP_AWS)) {
      return;
    }
    Settings settings = new Settings(arguments.configurations(), report);
    Seam seam = new Seams(settings, classPath, report).check();
    Configuration conf = seam.appliedTo(settings);
    AdapterConfig general;
    try {
      general = AdapterConfig.read(conf, null);
    } catch (IllegalArgumentException e) {
      report
          .in(Section.CONFIGURATION)
          .todo("settings", "not accepted: " + e.getMessage(), "Correct " + e.getMessage());
      return;
    }
    tellExplain(general.explain(), report.in(Section.CONFIGURATION));
    new MemoryChecks(settings, classPath, report).run(general);
    if (!libraries.lacks().isEmpty() || !classPath.hasSdk()) {
      // S3A or S3E would make no file system.
      return;
    }
    BucketChecks buckets = new BucketChecks(conf, seam, libraries, report);
    for (String bucket : asked(arguments)) {
      buckets.checkAsked(bucket);
    }
    for (String bucket : ConfiguredBuckets.in(conf)) {
      if (!asked(arguments).contains(bucket)) {
        buckets.checkConfigured(bucket);
      }
    }
    buckets.checkOthers();
    for (URI place : arguments.places()) {
      if (place.getPath().length() > 1) {
        new ReadTrial(conf, report).read(place);
      }
    }
  }

  private static void tellExplain(ExplainSetting explain, Report.Part report) {
    String key = S3EKeys.EXPLAIN.name();
    Path directory = explain.directory();
    switch (explain.level()) {
      case OFF -> report.note(key, "off: nothing is kept of GETs");
      case RECENT -> report.ok(key, "recent: the latest GETs, in memory");
      case SPANS -> report.ok(key, "spans, by OpenTelemetry");
      case ALL -> {
        if (directory != null
            && Files.exists(directory)
            && !(Files.isDirectory(directory) && Files.isWritable(directory))) {
          report.todo(
              key,
              "all, in " + directory + ", which is no directory that S3E may write",
              "Name another directory by " + key);
        } else {
          report.ok(key, "all, in " + directory);
        }
      }
    }
  }

  private static Set<String> asked(Arguments arguments) {
    Set<String> asked = new LinkedHashSet<>();
    arguments.places().forEach(place -> asked.add(place.getAuthority()));
    return asked;
  }
}
