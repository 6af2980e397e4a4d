// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.security.PrivilegedAction;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import javax.security.auth.Subject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The class loader of S3E's classes. One that is not the application's is to be collected when its
 * file systems are closed, so nothing that lives longer may keep it: not the threads that the JDK
 * and others begin once for all, nor what they remember. Waits for threads that may outlast the
 * last file system, and calls the JDK in ways that leave no trace of the caller. Any thread.
 */
public final class OwnLoader {
  private static final Logger LOG = LoggerFactory.getLogger(OwnLoader.class);
  private static final boolean APPLICATIONS = isApplicationsOrAbove();

  /** The longest that the threads are waited for, in all. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Those of {@link #thread}, weakly. Guards itself. */
  private static final Set<Thread> THREADS = Collections.newSetFromMap(new WeakHashMap<>());

  private OwnLoader() {}

  /**
   * A daemon thread for work that may outlast the last file system. In a class loader that is not
   * the application's {@link #awaitThreads} waits for it.
   */
  public static Thread thread(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    if (!APPLICATIONS) {
      synchronized (THREADS) {
        THREADS.add(thread);
      }
    }
    return thread;
  }

  /** Waits until such threads have ended, and those that they begin, for some seconds at most. */
  public static void awaitThreads() {
    if (!JvmEnd.await(() -> alive().isEmpty(), System.nanoTime() + PATIENCE_NANOS)) {
      LOG.debug("After the last file system these go on: {}", alive());
    }
  }

  private static List<Thread> alive() {
    synchronized (THREADS) {
      Thread self = Thread.currentThread();
      return THREADS.stream().filter(each -> each.isAlive() && each != self).toList();
    }
  }

  /** Whether the classes of S3E are there as long as the JVM is. */
  public static boolean isApplications() {
    return APPLICATIONS;
  }

  private static boolean isApplicationsOrAbove() {
    ClassLoader own = OwnLoader.class.getClassLoader();
    ClassLoader loader = ClassLoader.getSystemClassLoader();
    while (loader != null && loader != own) {
      loader = loader.getParent();
    }
    return loader == own;
  }

  /**
   * Calls what keeps its callers: threads and class loaders keep the protection domains of all
   * classes on the stack that makes them, and those their class loaders; threads keep the context's
   * class loader as well. So it is called by classes of the JDK alone, in the application's
   * context.
   *
   * @param target what those keep is not kept either if it is a class of another loader
   * @throws ReflectiveOperationException if the call fails
   */
  public static Object callApart(MethodHandle target, Object... arguments)
      throws ReflectiveOperationException {
    PrivilegedAction<?> action =
        MethodHandleProxies.asInterfaceInstance(
            PrivilegedAction.class, MethodHandles.insertArguments(target, 0, arguments));
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
    try {
      // By its name: the JDK will drop the method, and with it what it is called for.
      for (Method method : Subject.class.getMethods()) {
        if (method.getName().equals("doAsPrivileged")
            && method.getParameterTypes()[1] == PrivilegedAction.class) {
          return method.invoke(null, null, action, null);
        }
      }
      return action.run();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /** As {@link #callApart}, by the public constructor with those parameters. */
  public static <T> T makeApart(Class<T> type, List<Class<?>> parameters, Object... arguments)
      throws ReflectiveOperationException {
    MethodHandle constructor =
        MethodHandles.publicLookup()
            .findConstructor(type, MethodType.methodType(void.class, parameters));
    return type.cast(callApart(constructor, arguments));
  }
}
