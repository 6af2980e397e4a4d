// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * What is done as the user whose file system it is. Threads of S3E's are nobody's, and providers of
 * credentials may look who the current user is: services open file systems for many users in one
 * JVM. Before Java 24 a thread inherits the user of who starts it, which hides that, but for those
 * that outlive their first work.
 */
public final class AsUser {
  private AsUser() {}

  /**
   * What {@code action} gives; exceptions that are not checked, and of reading, pass as they are.
   */
  public static <T> T call(UserGroupInformation user, PrivilegedExceptionAction<T> action)
      throws IOException {
    try {
      return user.doAs(action);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted: " + e.getMessage()).initCause(e);
    }
  }
}
