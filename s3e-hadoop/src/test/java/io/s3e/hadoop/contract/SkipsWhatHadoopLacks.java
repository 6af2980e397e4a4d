// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.contract;

import java.lang.reflect.Method;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Skips a test of a contract suite that itself calls a method which the Hadoop under test does not
 * have yet: the suites are those of a newer one. A missing method that S3E calls stays an error.
 */
final class SkipsWhatHadoopLacks implements InvocationInterceptor {
  private static final String SUITES = "org.apache.hadoop.fs.contract.";

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    try {
      invocation.proceed();
    } catch (NoSuchMethodError e) {
      StackTraceElement[] stack = e.getStackTrace();
      if (stack.length > 0 && stack[0].getClassName().startsWith(SUITES)) {
        throw new TestAbortedException(
            "Hadoop " + VersionInfo.getVersion() + " lacks " + e.getMessage(), e);
      }
      throw e;
    }
  }
}
