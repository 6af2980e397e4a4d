// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The CRT as a class loader has it, looked at in an order in which nothing can go wrong: is there
 * one; is its version new enough; does its native library load. What no version tells, a jar of
 * another version behind it on the class path, comes up as a linkage error: {@link CrtLibrary}.
 *
 * @param origin version, jar and kind of class loader, in words
 * @param problem why it cannot be used; null if it can
 * @param clients makes clients over it; null if it cannot be used
 */
record CrtFinding(String origin, @Nullable String problem, @Nullable CrtClients clients) {
  static final String CRT_PREFIX = "software.amazon.awssdk.crt.";
  static final String CRT_CLASS = CRT_PREFIX + "CRT";
  static final String CLIENT_PREFIX = "io.s3e.client.crt.";
  private static final String ENTRY = CLIENT_PREFIX + "CrtEntry";

  /** The second number of the oldest aws-crt with all that S3E calls, 0.50. */
  private static final int OLDEST = 50;

  /** In the versions of aws-crt: 0.50.0. Groups the second number. */
  private static final Pattern VERSION = Pattern.compile("0\\.(\\d{1,4})\\..*");

  private static final String UNKNOWN = "of unknown version";

  /** The CRT's own property. */
  private static final String DIRECTORY = "aws.crt.lib.dir";

  private static final String OTHER_DIRECTORY =
      "; -D" + DIRECTORY + "=DIR has it unpacked to a directory that is writable and executable";

  private static final String MUSL = "; -Daws.crt.libc=musl takes the one for musl";
  private static final String NATIVE_ACCESS = "; --enable-native-access=ALL-UNNAMED allows it";

  /** Those of aws-crt 0.50 have 2.1 to 7.8 MB. */
  private static final long LIBRARY_BYTES = 8 << 20;

  /** From the file of a class of this package, or of the CRT's, up to the root of its jar. */
  static final String TO_ROOT = "../".repeat(4);

  /** Where Maven notes the version, from the root of a jar. */
  static final String POM = "META-INF/maven/software.amazon.awssdk.crt/aws-crt/pom.properties";

  /**
   * @param loader where to look
   * @param own whether that is a loader of S3E's own, with the aws-crt that S3E was compiled with
   */
  static CrtFinding in(ClassLoader loader, boolean own) {
    Class<?> crt;
    try {
      crt = Class.forName(CRT_CLASS, false, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      return unusable("no aws-crt", "software.amazon.awssdk.crt:aws-crt is not on the class path");
    }
    String origin = describe(crt) + (own ? ", in a class loader of S3E's own" : "");
    try {
      if (!own && isOld(crt)) {
        return unusable(origin, origin + " is older than 0." + OLDEST);
      }
      String unpacking = own ? null : unpackingProblem();
      String problem = unpacking != null ? unpacking : nativeProblem(crt);
      if (problem != null) {
        return unusable(origin, "the native library of " + origin + " does not load: " + problem);
      }
      Object entry = Class.forName(ENTRY, true, loader).getDeclaredConstructor().newInstance();
      return new CrtFinding(origin, null, (CrtClients) entry);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // Anything that stops it here is a reason to do without it, not to fail.
      return unusable(origin, origin + " cannot be looked at: " + e);
    }
  }

  static CrtFinding unusable(String origin, String problem) {
    return new CrtFinding(origin, problem, null);
  }

  /** One whose version nobody tells shows it, as a linkage error. */
  private static boolean isOld(Class<?> crt) {
    Matcher version = VERSION.matcher(version(crt));
    return version.matches() && Integer.parseInt(version.group(1)) < OLDEST;
  }

  /** The CRT keeps the failure of its static initializer for a question. */
  static @Nullable String nativeProblem(Class<?> crt) {
    try {
      crt.getMethod("checkLoaded").invoke(null);
      return null;
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return words(e);
    }
  }

  /** The first failure of a chain: those above it only say that something failed. */
  static String words(Throwable failure) {
    Throwable first = failure;
    for (Throwable next = failure; next != null; next = next.getCause()) {
      first = next;
    }
    return first
        + (first.toString().contains("ld-linux") // what the library for glibc asks musl for
            ? MUSL
            : first instanceof UnsatisfiedLinkError
                ? OTHER_DIRECTORY
                : first instanceof IllegalCallerException ? NATIVE_ACCESS : "");
  }

  /**
   * Why no directory takes the native library, in the order in which the CRT tries them; null if
   * one does. Asked before a CRT begins, which prints stack traces to stderr otherwise.
   */
  static @Nullable String unpackingProblem() {
    List<String> problems = new ArrayList<>();
    for (String property : List.of(DIRECTORY, "java.io.tmpdir")) {
      String directory = System.getProperty(property);
      if (directory != null) {
        String problem = problem(new File(directory).getAbsoluteFile());
        if (problem == null) {
          return null;
        }
        problems.add(problem);
      }
    }
    return problems.isEmpty() ? null : String.join("; ", problems) + OTHER_DIRECTORY;
  }

  private static @Nullable String problem(File directory) {
    try {
      boolean unused = directory.mkdirs();
      Files.delete(Files.createTempFile(directory.toPath(), "s3e", ".probe"));
    } catch (IOException | RuntimeException e) {
      return directory + " takes no file (" + e + ")";
    }
    long free = directory.getUsableSpace();
    return free < LIBRARY_BYTES
        ? directory + " has " + (free >> 10) + " KiB free of " + (LIBRARY_BYTES >> 10)
        : null;
  }

  private static String describe(Class<?> crt) {
    CodeSource source = crt.getProtectionDomain().getCodeSource();
    URL jar = source == null ? null : source.getLocation();
    return "aws-crt " + version(crt) + " of " + (jar == null ? "an unknown jar" : jar.getPath());
  }

  /** As Maven noted it; jars that others repackage may have dropped the note. */
  private static String version(Class<?> crt) {
    URL self = crt.getResource("CRT.class");
    try {
      return self == null ? UNKNOWN : version(new URL(self, TO_ROOT + POM));
    } catch (IOException e) {
      // Told by the answer.
      return UNKNOWN;
    }
  }

  static String version(URL pom) throws IOException {
    try (InputStream in = AwsCrtLoader.open(pom)) {
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version", UNKNOWN);
    }
  }
}
