package io.s3e.client.crt;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * Says whether the CRT can be used in this JVM, without risking a linkage error in the caller: the
 * jar may be absent, too old, or have no native library for this platform.
 */
public final class CrtLibrary {
  private static final String CRT_CLASS = "software.amazon.awssdk.crt.CRT";
  private static final String S3_CLIENT_CLASS = "software.amazon.awssdk.crt.s3.S3Client";
  private static final String OPTIONS_CLASS = "software.amazon.awssdk.crt.s3.S3MetaRequestOptions";
  private static final String BORROWED_CLASS =
      "software.amazon.awssdk.crt.s3.S3BorrowedBufferDelivery";

  /** Probed once: loading the native library has side effects and its outcome does not change. */
  private static final class Probe {
    static final @Nullable String PROBLEM = problem();
    static final boolean LENDS = PROBLEM == null && isPresent(BORROWED_CLASS);
  }

  private CrtLibrary() {}

  /**
   * Why the CRT cannot be used, in words for a log line; null if it can. Never throws. The first
   * call unpacks and loads the native library.
   */
  public static @Nullable String unusableBecause() {
    return Probe.PROBLEM;
  }

  /**
   * Whether this version of aws-crt delivers bodies in borrowed direct buffers (0.50 and later).
   */
  public static boolean lendsBuffers() {
    return Probe.LENDS;
  }

  private static @Nullable String problem() {
    if (!isPresent(CRT_CLASS) || !isPresent(S3_CLIENT_CLASS)) {
      return "software.amazon.awssdk.crt:aws-crt is not on the classpath";
    }
    try {
      Class<?> crt = Class.forName(CRT_CLASS, true, CrtLibrary.class.getClassLoader());
      checkLoaded(crt);
      return isPresent(OPTIONS_CLASS, "withOperationName")
          ? null
          : "the version of aws-crt on the classpath is too old";
    } catch (InvocationTargetException e) {
      return "its native library does not load: " + e.getCause();
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // Whatever stops the library from loading is a reason to do without it, not to fail.
      return "its native library does not load: " + e;
    }
  }

  /** Newer versions keep the failure of their static initializer for this; older ones throw it. */
  private static void checkLoaded(Class<?> crt) throws ReflectiveOperationException {
    Method check;
    try {
      check = crt.getMethod("checkLoaded");
    } catch (NoSuchMethodException e) {
      return;
    }
    check.invoke(null);
  }

  private static boolean isPresent(String className, String methodOfString)
      throws ClassNotFoundException {
    try {
      Class<?> owner = Class.forName(className, false, CrtLibrary.class.getClassLoader());
      owner.getMethod(methodOfString, String.class);
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  private static boolean isPresent(String className) {
    try {
      Class.forName(className, false, CrtLibrary.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
