// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.PrivilegedExceptionAction;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/** Services open file systems for many users in one JVM: credentials are asked for as each. */
@Timeout(120)
class CredentialsUserTest {
  private static final int SIZE = 1 << 20;
  private static final Path FILE = new Path("/credentials-of-a-user");

  /** Gives credentials that are about to expire, so that each request asks for others. */
  public static final class Asking implements AwsCredentialsProvider {
    private static final Queue<String> USERS = new ConcurrentLinkedQueue<>();

    /** Called by S3A. */
    public Asking() {}

    @Override
    public AwsCredentials resolveCredentials() {
      try {
        USERS.add(UserGroupInformation.getCurrentUser().getShortUserName());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return S3AServer.soonExpired();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"crt", "s3a"})
  void credentialsAreAskedForAsTheUserOfTheFileSystem(String client) throws Exception {
    Configuration conf = S3AReads.small(S3AServer.s3e(S3AServer.endpoint()));
    conf.set("fs.s3a.aws.credentials.provider", Asking.class.getName());
    conf.set("fs.s3a.s3e.client", client);
    UserGroupInformation alice = UserGroupInformation.createRemoteUser("alice");
    PrivilegedExceptionAction<FileSystem> open = () -> S3AReads.open(conf);
    try (FileSystem fs = alice.doAs(open)) {
      PrivilegedExceptionAction<FileStatus> write =
          () -> {
            try (FSDataOutputStream out = fs.create(FILE, true)) {
              out.write(new byte[SIZE]);
            }
            return fs.getFileStatus(FILE);
          };
      FileStatus written = alice.doAs(write);
      Asking.USERS.clear();
      // By a thread that is nobody's, as GETs ahead are sent; what is told of the file saves a
      // HEAD.
      try (FSDataInputStream in = fs.openFile(FILE).withFileStatus(written).build().get()) {
        in.readFully(SIZE / 2, new byte[10]);
      }
      assertThat(Asking.USERS).isNotEmpty().containsOnly("alice");
    }
  }
}
