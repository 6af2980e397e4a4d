// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.CredentialsSource;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;

/**
 * Credentials that are asked for as the user whose file system it is. The client asks on threads of
 * its own, which are nobody's, and a provider may look who the current user is: services open file
 * systems for many users in one JVM.
 */
record CredentialsOfUser(UserGroupInformation user, CredentialsSource source)
    implements CredentialsSource {

  @Override
  public @Nullable Credentials resolve() throws IOException {
    try {
      return user.doAs((PrivilegedExceptionAction<@Nullable Credentials>) source::resolve);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted: " + e.getMessage()).initCause(e);
    }
  }

  @Override
  public @Nullable String sessionsOf() {
    return source.sessionsOf();
  }
}
