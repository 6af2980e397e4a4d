// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.setup;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.reflect.InvocationTargetException;
import org.jspecify.annotations.Nullable;

/**
 * Says in one line that this Java is too old, where all other classes of S3E would end in an {@code
 * UnsupportedClassVersionError}. Compiled, as all of {@code src/java8}, to what Java 8 loads: it
 * names no other class of S3E but by reflection. Stateless; any thread.
 */
public final class OldJava {
  private static final int NEEDED = 17;

  private OldJava() {}

  /** What is wrong with the Java that runs this, in a line; null if nothing is. */
  public static @Nullable String problem() {
    return problem(
        System.getProperty("java.specification.version"), System.getProperty("java.home"));
  }

  static @Nullable String problem(String specification, String home) {
    // Up to Java 8 it is 1.8, from Java 9 on 9.
    String version = specification.startsWith("1.") ? specification.substring(2) : specification;
    return Integer.parseInt(version) >= NEEDED
        ? null
        : "S3E needs Java " + NEEDED + "; this is Java " + version + " (" + home + ")";
  }

  /**
   * Runs a program, or writes to standard error why this Java cannot, and exits with 1.
   *
   * @param main the name of its class
   */
  public static void run(String main, String... args) throws Throwable {
    String problem = problem();
    if (problem != null) {
      // By the descriptor: System.err may be someone else's.
      byte[] line = (problem + System.lineSeparator()).getBytes("UTF-8");
      new FileOutputStream(FileDescriptor.err).write(line);
      System.exit(1);
    }
    try {
      Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
