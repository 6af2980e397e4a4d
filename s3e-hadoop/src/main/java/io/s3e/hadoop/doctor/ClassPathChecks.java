// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.doctor.ClassPath.Copy;
import io.s3e.hadoop.doctor.Report.Section;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The libraries: which are there, which lack, and which are there more than once. */
final class ClassPathChecks {
  private final ClassPath classPath;
  private final Report.Part report;

  ClassPathChecks(ClassPath classPath, Report report) {
    this.classPath = classPath;
    this.report = report.in(Section.CLASS_PATH);
  }

  void run() {
    report.ok(
        "Java",
        Runtime.version() + " of " + System.getProperty("java.vendor", "an unknown vendor"));
    for (Library library : Library.values()) {
      if (library == Library.SDK_S3 && !classPath.isHadoop33()) {
        checkSdk();
      } else if (library == Library.SDK_1 ? classPath.isHadoop33() : !library.isOfSdk2()) {
        check(library);
      }
    }
  }

  private void check(Library library) {
    List<Copy> copies = classPath.copies(library);
    if (!copies.isEmpty()) {
      tell(library, copies);
    } else if (library == Library.HADOOP_AWS && !classPath.has(Library.HADOOP)) {
      // One remedy is enough: Hadoop's own class path may have it.
      return;
    } else if (library.isRequired()) {
      report.todo(library.title, "not on the class path", remedy(library));
    }
  }

  private void checkSdk() {
    if (!classPath.has(Library.HADOOP_AWS) && !classPath.has(Library.SDK_S3)) {
      // What brings the one brings the other, so that one remedy is enough.
      return;
    }
    List<Library> lacking =
        Arrays.stream(Library.values())
            .filter(library -> library.isOfSdk2() && !classPath.has(library))
            .toList();
    if (!lacking.isEmpty()) {
      report.todo(
          "AWS SDK",
          "not on the class path: "
              + lacking.stream().map(library -> library.title).collect(Collectors.joining("; ")),
          remedy(Library.SDK_S3));
    }
    for (Library library : List.of(Library.SDK_CORE, Library.SDK_S3)) {
      if (classPath.has(library)) {
        tell(library, classPath.copies(library));
      }
    }
    if (classPath.has(Library.SDK_CORE) && classPath.has(Library.SDK_S3)) {
      checkSdkIsOne(
          classPath.copies(Library.SDK_CORE).get(0), classPath.copies(Library.SDK_S3).get(0));
    }
  }

  private void checkSdkIsOne(Copy core, Copy s3) {
    if (!core.version().equals(s3.version())) {
      report.todo(
          "AWS SDK",
          "core is " + core.version() + " and s3 is " + s3.version(),
          "Leave one version of the AWS SDK on the class path, the one of hadoop-aws: "
              + core.place()
              + " and "
              + s3.place()
              + " differ");
    }
  }

  /** The first copy, which is used, and what the others mean. */
  private void tell(Library library, List<Copy> copies) {
    String title = library.title;
    Copy first = copies.get(0);
    report.ok(title, first.version() + "  " + first.place());
    for (Copy other : copies.subList(1, copies.size())) {
      String value = "again " + other.version() + "  " + other.place();
      // S3E calls what all versions of SLF4J have, and --packages often brings another than
      // Spark's.
      if (other.version().equals(first.version()) || library == Library.SLF4J) {
        report.note(title, value);
      } else {
        report.todo(
            title,
            value,
            "Leave one version of "
                + title
                + " on the class path: remove "
                + first.place()
                + " or "
                + other.place());
      }
    }
  }

  private String remedy(Library library) {
    return switch (library) {
      case SLF4J, HADOOP ->
          "Look from where jobs run, with Hadoop on the class path: hadoop jar BUNDLE.jar;"
              + " spark-submit --class io.s3e.hadoop.doctor.Doctor BUNDLE.jar; or"
              + " java -cp BUNDLE.jar:$(hadoop classpath) io.s3e.hadoop.doctor.Doctor";
      case HADOOP_AWS ->
          "Add org.apache.hadoop:hadoop-aws:"
              + (classPath.has(Library.HADOOP)
                  ? classPath.copies(Library.HADOOP).get(0).version()
                  : "VERSION")
              + " (Hadoop's own version) and the AWS SDK that it names to the class path:"
              + " docs/INSTALL.md has the coordinates for each engine";
      case SDK_1 ->
          "Add the AWS SDK for Java 1 that hadoop-aws was built with,"
              + " com.amazonaws:aws-java-sdk-bundle (1.12.262 for Hadoop 3.3.4, 1.12.367 for"
              + " 3.3.6)";
      default ->
          "Add the AWS SDK for Java 2 that hadoop-aws was built with, software.amazon.awssdk:bundle"
              + " or its modules s3, sts, s3-transfer-manager, apache-client and netty-nio-client"
              + " (2.24.6 for Hadoop 3.4.1, 2.29.52 for 3.4.2, 2.35.4 for 3.4.3 and 3.5.0)";
    };
  }
}
