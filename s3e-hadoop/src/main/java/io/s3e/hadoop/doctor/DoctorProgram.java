// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.s3e.hadoop.doctor.Report.Section;
import io.s3e.version.Version;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.List;

/**
 * Looks at the class path and the configuration of this JVM as S3E would meet them, and says what
 * is to be done where it would not read. Changes nothing, and shows no secret: of the configuration
 * only values of keys that hold none.
 */
public final class DoctorProgram {
  private static final int READY = 0;
  private static final int TO_DO = 1;
  private static final int WRONG_USAGE = 2;

  private DoctorProgram() {}

  /** Exits with the code that {@code --help} tells. */
  public static void main(String[] args) {
    int code =
        run(
            new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8),
            new PrintStream(new FileOutputStream(FileDescriptor.err), true, UTF_8),
            args);
    // Threads of a store that does not answer must not keep the process.
    System.exit(code);
  }

  /**
   * Looks, and writes the report to {@code out}, or why there is none to {@code err}.
   *
   * @return the exit code
   */
  public static int run(PrintStream out, PrintStream err, String... args) {
    Arguments arguments;
    try {
      arguments = Arguments.parse(List.of(args));
    } catch (IllegalArgumentException e) {
      err.println("s3e doctor: " + e.getMessage());
      err.print(Arguments.USAGE);
      return WRONG_USAGE;
    }
    if (arguments.help()) {
      out.print(Arguments.USAGE);
      out.flush();
      return READY;
    }
    Report report = look(arguments);
    out.print(arguments.json() ? report.json() : report.text());
    out.flush();
    return report.isReady() ? READY : TO_DO;
  }

  private static Report look(Arguments arguments) {
    Report report = new Report(Version.text());
    ClassPath classPath = new ClassPath(loader());
    new ClassPathChecks(classPath, report).run();
    if (!classPath.has(Library.SLF4J)) {
      return report;
    }
    try {
      NativeLibrary.check(report);
      if (classPath.has(Library.HADOOP)) {
        HadoopChecks.run(arguments, classPath, report);
      }
    } catch (RuntimeException e) {
      // As Hadoop does where a file of its settings is no XML, at the first key that is asked for.
      report
          .in(Section.CONFIGURATION)
          .todo("settings", "cannot be read: " + e.getMessage(), "Correct what is named there");
    } catch (LinkageError e) {
      report
          .in(Section.CLASS_PATH)
          .todo(
              "classes",
              "do not fit together: " + e,
              "Look for the class named there: its library lacks, or another version comes first");
    }
    return report;
  }

  /** The one by which Hadoop would load S3E, if that sees this S3E. */
  private static ClassLoader loader() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    return context != null && context.getResource(Library.S3E.marker) != null
        ? context
        : DoctorProgram.class.getClassLoader();
  }
}
