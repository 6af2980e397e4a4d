package io.s3e.client.library;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * The CRT as a class loader has it, looked at in an order in which nothing can go wrong: is there
 * one; does its jar have every class and member that S3E's code names; does its native library
 * load.
 *
 * @param origin version, jar and kind of class loader, in words
 * @param capability what can be done with it
 * @param problem why nothing can be done with it; null unless {@link CrtCapability#UNUSABLE}
 * @param clients makes clients over it; null if {@link CrtCapability#UNUSABLE}
 */
record CrtFinding(
    String origin,
    CrtCapability capability,
    @Nullable String problem,
    @Nullable CrtClients clients) {
  private static final String ENTRY = CrtNeeds.CLIENT_PREFIX + "CrtEntry";

  /** Everything that only an aws-crt which lends has is behind this class. */
  private static final String LENDING = CrtNeeds.CLIENT_PREFIX + "BorrowedPools";

  private static final String ABSENT =
      "software.amazon.awssdk.crt:aws-crt is not on the class path";

  /** From the CRT's package up to the root of its jar. */
  private static final String POM =
      "../".repeat(4) + "META-INF/maven/software.amazon.awssdk.crt/aws-crt/pom.properties";

  /**
   * @param loader where to look
   * @param own whether that is a loader of S3E's own, with the aws-crt that S3E was compiled with:
   *     its members are not looked at, which takes some 100 ms of processor time in a cold JVM
   */
  static CrtFinding in(ClassLoader loader, boolean own) {
    Class<?> crt;
    try {
      crt = Class.forName(CrtLibrary.CRT_CLASS, false, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      return unusable("no aws-crt", ABSENT);
    }
    String origin = describe(crt) + (own ? ", in a class loader of S3E's own" : "");
    try {
      CrtCapability capability = CrtCapability.LENDS;
      if (!own) {
        LinkCheck check = new LinkCheck(loader, LinkCheck.jarOf(crt));
        List<String> lacking = check.lacking(CrtNeeds.of(loader, ENTRY, LENDING));
        if (!lacking.isEmpty()) {
          return unusable(origin, origin + " lacks " + summary(lacking));
        }
        if (!check.lacking(CrtNeeds.of(loader, LENDING, null)).isEmpty()) {
          capability = CrtCapability.COPIES;
        }
      }
      String problem = nativeProblem(crt);
      if (problem != null) {
        return unusable(origin, "the native library of " + origin + " does not load: " + problem);
      }
      Object entry = Class.forName(ENTRY, true, loader).getDeclaredConstructor().newInstance();
      return new CrtFinding(origin, capability, null, (CrtClients) entry);
    } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
      // Anything that stops it here is a reason to do without it, not to fail.
      return unusable(origin, origin + " cannot be looked at: " + e);
    }
  }

  /** Why code that links against the aws-crt of {@code loader} cannot run; null if it can. */
  static @Nullable String whyNotOnClassPath(ClassLoader loader) {
    try {
      Class<?> crt = Class.forName(CrtLibrary.CRT_CLASS, false, loader);
      String problem = nativeProblem(crt);
      return problem == null
          ? null
          : "the native library of " + describe(crt) + " does not load: " + problem;
    } catch (ClassNotFoundException | LinkageError e) {
      return ABSENT + "; the one in S3E's bundle jar serves S3E's own client only";
    }
  }

  private static CrtFinding unusable(String origin, String problem) {
    return new CrtFinding(origin, CrtCapability.UNUSABLE, problem, null);
  }

  private static String summary(List<String> lacking) {
    return lacking.size() == 1
        ? lacking.get(0)
        : lacking.get(0) + " and " + (lacking.size() - 1) + " more that S3E uses";
  }

  /**
   * Newer versions keep the failure of their static initializer for a question; older ones throw.
   */
  private static @Nullable String nativeProblem(Class<?> crt) {
    try {
      Class.forName(crt.getName(), true, crt.getClassLoader());
      Method check = crt.getMethod("checkLoaded");
      check.invoke(null);
      return null;
    } catch (NoSuchMethodException e) {
      return null;
    } catch (InvocationTargetException e) {
      return String.valueOf(e.getCause());
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return e.toString();
    }
  }

  private static String describe(Class<?> crt) {
    URL jar = LinkCheck.jarOf(crt);
    return "aws-crt " + version(crt) + " of " + (jar == null ? "an unknown jar" : jar.getPath());
  }

  /** As Maven noted it; jars that others repackage may have dropped the note. */
  private static String version(Class<?> crt) {
    URL self = crt.getResource("CRT.class");
    if (self != null) {
      try (InputStream in = new URL(self, POM).openStream()) {
        Properties pom = new Properties();
        pom.load(in);
        return pom.getProperty("version", "of unknown version");
      } catch (IOException e) {
        // Told by the answer.
        return "of unknown version";
      }
    }
    return "of unknown version";
  }
}
