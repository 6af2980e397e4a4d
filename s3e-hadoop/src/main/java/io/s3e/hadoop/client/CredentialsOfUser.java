// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.CredentialsSource;
import java.io.IOException;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;

/** Credentials that are asked for as the user whose file system it is ({@link AsUser}). */
record CredentialsOfUser(UserGroupInformation user, CredentialsSource source)
    implements CredentialsSource {

  @Override
  public @Nullable Credentials resolve() throws IOException {
    return AsUser.call(user, source::resolve);
  }

  @Override
  public @Nullable String sessionsOf() {
    return source.sessionsOf();
  }
}
