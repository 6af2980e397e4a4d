// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.doctor.Report.Section;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;

/** The keys that put S3E behind {@code s3a://}. */
final class Seams {
  private static final String FILE_SYSTEM = S3EFileSystem.class.getName();
  private static final String ABSTRACT_FILE_SYSTEM = S3EAbstractFileSystem.class.getName();

  /** Not named by its class, which links against what Hadoop 3.4.1 lacks. */
  private static final String FACTORY = "io.s3e.hadoop.S3EStreamFactory";

  private static final String PLUGIN = Settings.PLUGIN;
  private static final String S3A = "org.apache.hadoop.fs.s3a.";
  private static final List<String> OTHER_SCHEMES = List.of("fs.s3.impl", "fs.s3n.impl");

  private final Settings settings;
  private final Configuration conf;
  private final ClassPath classPath;
  private final Report.Part report;

  Seams(Settings settings, ClassPath classPath, Report report) {
    this.settings = settings;
    this.conf = settings.hadoop();
    this.classPath = classPath;
    this.report = report.in(Section.CONFIGURATION);
  }

  Seam check() {
    Seam seam = find();
    tellFileSystem(seam);
    tellAbstractFileSystem(seam);
    for (String key : OTHER_SCHEMES) {
      String value = value(key);
      if (!value.isEmpty()) {
        report.note(
            key,
            shown(key)
                + (value.equals(FILE_SYSTEM) ? "" : ": paths of that scheme are not read by S3E"));
      }
    }
    return seam;
  }

  private Seam find() {
    if (value(Seam.IMPL).equals(FILE_SYSTEM)) {
      return Seam.FILE_SYSTEM;
    }
    if (!isS3AsOwn(Seam.IMPL)) {
      return Seam.NONE;
    }
    if (hasPlugin()) {
      return Seam.SPARK_PLUGIN;
    }
    return value(Constants.INPUT_STREAM_CUSTOM_FACTORY).equals(FACTORY)
            && value(Constants.INPUT_STREAM_TYPE)
                .equalsIgnoreCase(Constants.INPUT_STREAM_TYPE_CUSTOM)
        ? Seam.STREAM_FACTORY
        : Seam.NONE;
  }

  private boolean hasPlugin() {
    if (!settings.namesPlugin()) {
      return false;
    }
    if (classPath.has(Library.PLUGIN)) {
      return true;
    }
    if (classPath.has(Library.SPARK)) {
      report.todo(
          Settings.PLUGINS,
          PLUGIN + ", which is not on the class path",
          "Add the artifact for this Spark by --packages, io.s3e:s3e-spark-4.1_2.13 for 4.1"
              + " (docs/INSTALL.md)");
      return false;
    }
    report.note(
        Settings.PLUGINS, PLUGIN + ", which is not looked at here: no Spark is on the class path");
    return true;
  }

  private void tellFileSystem(Seam seam) {
    switch (seam) {
      case FILE_SYSTEM -> report.ok(Seam.IMPL, shown(Seam.IMPL));
      case SPARK_PLUGIN ->
          report.ok(Seam.IMPL, FILE_SYSTEM + ", which " + PLUGIN + " sets when Spark starts");
      case STREAM_FACTORY ->
          report.note(
              Seam.IMPL,
              shown(Seam.IMPL)
                  + ", with streams of "
                  + FACTORY
                  + ": S3E reads by S3A's client, which is slower than by "
                  + Seam.IMPL
                  + " = "
                  + FILE_SYSTEM);
      case NONE ->
          report.todo(
              Seam.IMPL,
              shown(Seam.IMPL) + ": S3E does not read",
              "Set " + Seam.IMPL + " to " + FILE_SYSTEM);
    }
  }

  private void tellAbstractFileSystem(Seam seam) {
    String value = value(Seam.ABSTRACT_IMPL);
    if (value.equals(ABSTRACT_FILE_SYSTEM)) {
      report.ok(Seam.ABSTRACT_IMPL, shown(Seam.ABSTRACT_IMPL));
    } else if (seam == Seam.SPARK_PLUGIN && isS3AsOwn(Seam.ABSTRACT_IMPL)) {
      report.ok(
          Seam.ABSTRACT_IMPL,
          ABSTRACT_FILE_SYSTEM + ", which " + PLUGIN + " sets when Spark starts");
    } else if (seam == Seam.STREAM_FACTORY && isS3AsOwn(Seam.ABSTRACT_IMPL)) {
      report.ok(Seam.ABSTRACT_IMPL, shown(Seam.ABSTRACT_IMPL) + ", with the same streams");
    } else {
      report.todo(
          Seam.ABSTRACT_IMPL,
          shown(Seam.ABSTRACT_IMPL)
              + ": programs that use FileContext (YARN, Spark's checkpoints) read without S3E",
          "Set " + Seam.ABSTRACT_IMPL + " to " + ABSTRACT_FILE_SYSTEM);
    }
  }

  private boolean isS3AsOwn(String key) {
    String value = value(key);
    return value.isEmpty() || value.startsWith(S3A);
  }

  private String value(String key) {
    return conf.getTrimmed(key, "");
  }

  /** The value and the file that it comes from. */
  private String shown(String key) {
    String value = value(key);
    if (value.isEmpty()) {
      return "not set";
    }
    String[] sources = conf.getPropertySources(key);
    return sources == null || sources.length == 0
        ? value
        : value + " (" + sources[sources.length - 1] + ")";
  }
}
