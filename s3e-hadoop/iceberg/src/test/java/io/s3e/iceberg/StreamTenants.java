// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.iceberg.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;

/** What a file IO reads by, as its streams show it. */
final class StreamTenants {
  private StreamTenants() {}

  /** The tenant of a stream there, which is opened and closed; null if S3FileIO reads there. */
  static @Nullable S3E tenant(S3EFileIO io, String location) {
    try (SeekableInputStream in = io.newInputFile(location, 1).newStream()) {
      return in instanceof S3ESeekableInputStream stream ? stream.tenant : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static boolean isClosed(S3E tenant) {
    try {
      tenant.open(new ObjectRef("any", "key"), OpenOptions.DEFAULTS.withSize(1)).close();
      return false;
    } catch (IOException e) {
      return e.getMessage().contains("closed");
    }
  }
}
