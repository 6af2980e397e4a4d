// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.ResolvingFileIO;
import org.apache.iceberg.io.StorageCredential;
import org.jspecify.annotations.Nullable;

/**
 * Iceberg's {@link ResolvingFileIO}, which chooses a file IO by the scheme of a location, whose
 * files of {@code s3://}, {@code s3a://} and {@code s3n://} are read by S3E: {@code
 * io-impl=io.s3e.iceberg.S3EResolvingFileIO} in the properties of a catalog whose tables are not
 * all on S3. What writes, deletes and lists, and all of other schemes, is Iceberg's. Any thread.
 *
 * <p>Such files are those of one {@link S3EFileIO} with the same properties and credentials, made
 * at the first of them, which is so again after serialization, and closed with this.
 */
public class S3EResolvingFileIO extends ResolvingFileIO {
  private static final long serialVersionUID = 1L;

  /** Guarded by this object's monitor; null until a file on S3 is named. */
  private transient @Nullable Reads reads;

  /** Holds the resolver under its files and streams: its finalizer closes what they read by. */
  private static final class Reads extends S3EFileIO {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("UnusedVariable") // To be held is its use.
    private final transient S3EResolvingFileIO owner;

    Reads(S3EResolvingFileIO owner) {
      this.owner = owner;
    }
  }

  /** For {@link #initialize}, which a catalog calls. */
  public S3EResolvingFileIO() {}

  /**
   * @throws IllegalArgumentException if a property of S3E's has a bad value; names the property,
   *     the value and what is accepted
   */
  @Override
  public void initialize(Map<String, String> properties) {
    S3EProperties.check(properties);
    closeReads();
    super.initialize(properties);
  }

  /** As {@link S3EFileIO#setCredentials} for files on S3. */
  @Override
  public void setCredentials(List<StorageCredential> credentials) {
    super.setCredentials(credentials);
    S3EFileIO open;
    synchronized (this) {
      open = reads;
    }
    // Which waits for what is in flight: others open files meanwhile.
    if (open != null) {
      open.setCredentials(credentials);
    }
  }

  @Override
  public InputFile newInputFile(String location) {
    return ClientView.isS3(location)
        ? reads().newInputFile(location)
        : super.newInputFile(location);
  }

  @Override
  public InputFile newInputFile(String location, long length) {
    return ClientView.isS3(location)
        ? reads().newInputFile(location, length)
        : super.newInputFile(location, length);
  }

  /** What files on S3 are read by. */
  synchronized S3EFileIO reads() {
    Reads known = reads;
    if (known == null) {
      known = new Reads(this);
      known.setCredentials(credentials());
      Map<String, String> properties = new HashMap<>(properties());
      // As Iceberg's resolver makes its own: who closes this closes that.
      properties.put("init-creation-stacktrace", "false");
      known.initializeChecked(properties);
      reads = known;
    }
    return known;
  }

  private void closeReads() {
    Reads open;
    synchronized (this) {
      open = reads;
      reads = null;
    }
    if (open != null) {
      open.close();
    }
  }

  @Override
  public void close() {
    try {
      closeReads();
    } finally {
      super.close();
    }
  }
}
