package io.s3e.client.library;

import io.s3e.client.ClientProvider.ClientMemory;
import io.s3e.client.ObjectClient;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * Says whether the CRT can be used in this JVM, without risking a linkage error in the caller: the
 * jar may be absent, too old, or have no native library for this platform. Makes the clients over
 * it.
 */
public final class CrtLibrary {
  private static final String CRT_CLASS = "software.amazon.awssdk.crt.CRT";
  private static final String S3_CLIENT_CLASS = "software.amazon.awssdk.crt.s3.S3Client";
  private static final String OPTIONS_CLASS = "software.amazon.awssdk.crt.s3.S3MetaRequestOptions";
  private static final String BORROWED_CLASS =
      "software.amazon.awssdk.crt.s3.S3BorrowedBufferDelivery";
  private static final String ENTRY_CLASS = "io.s3e.client.crt.CrtEntry";

  /** Probed once: loading the native library has side effects and its outcome does not change. */
  private static final class Probe {
    static final @Nullable String PROBLEM = problem();
    static final CrtCapability CAPABILITY =
        PROBLEM != null
            ? CrtCapability.UNUSABLE
            : isPresent(BORROWED_CLASS) ? CrtCapability.LENDS : CrtCapability.COPIES;
  }

  private CrtLibrary() {}

  /**
   * Why the CRT cannot be used, in words for a log line; null if it can. Never throws. The first
   * call unpacks and loads the native library.
   */
  public static @Nullable String unusableBecause() {
    return Probe.PROBLEM;
  }

  /** What can be done with the library that was found. */
  public static CrtCapability capability() {
    return Probe.CAPABILITY;
  }

  /**
   * Opens a client over the CRT, which lends if {@code delivery}, the library and the memory allow
   * it.
   *
   * @throws IllegalArgumentException if the memory is less than {@link #minimumBytes}, or the CA
   *     file cannot be read
   * @throws CrtUnusableException if {@link #unusableBecause()} is not null, or turns out so
   */
  public static ObjectClient open(
      CrtSettings settings, ClientMemory memory, CrtCapability delivery) {
    CrtCapability least = delivery.compareTo(capability()) < 0 ? delivery : capability();
    return clients().open(settings, memory, least);
  }

  /** The least {@code memory.ownedBytes()} that {@link #open} accepts, in bytes. */
  public static long minimumBytes(ClientMemory memory) {
    return clients().minimumBytes(memory);
  }

  private static CrtClients clients() {
    String problem = unusableBecause();
    if (problem != null) {
      throw new CrtUnusableException(problem, null);
    }
    try {
      return (CrtClients) Class.forName(ENTRY_CLASS).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new CrtUnusableException(e.toString(), e);
    }
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
