// SPDX-License-Identifier: Apache-2.0
package io.s3e.example;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * S3E without Hadoop: copies an object to a file with many GETs in flight, then reads its last
 * bytes as a reader of a footer would.
 *
 * <p>Arguments: bucket, key, target file, and the endpoint of a store that is not AWS. Credentials
 * and region are found by the AWS SDK, which is on the class path; a program that sets {@link
 * AwsClientSettings.Builder#credentials} and the region needs no SDK.
 */
public final class CopyObject {
  private static final int TAIL_BYTES = 64;

  private CopyObject() {}

  public static void main(String[] args) throws IOException {
    AwsClientSettings.Builder settings = AwsClientSettings.builder();
    if (args.length > 3) {
      settings.endpoint(URI.create(args[3])).pathStyle(true);
    }
    ObjectRef object = new ObjectRef(args[0], args[1]);
    try (S3E engine = S3E.create(S3EConfig.DEFAULTS, AwsClients.crt(settings.build()))) {
      long bytes;
      try (FileChannel file =
          FileChannel.open(
              Path.of(args[2]), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        bytes =
            engine.transfer(
                object,
                OpenOptions.DEFAULTS,
                null,
                file,
                (done, total) -> System.out.printf("%d of %d bytes%n", done, total));
      }
      try (S3EInputStream in = engine.open(object)) {
        byte[] tail = new byte[(int) Math.min(TAIL_BYTES, in.size())];
        in.readFullyAt(in.size() - tail.length, tail, 0, tail.length);
      }
      System.out.printf("%s: %d bytes, %s%n", object, bytes, engine.metrics().snapshot());
    }
  }
}
