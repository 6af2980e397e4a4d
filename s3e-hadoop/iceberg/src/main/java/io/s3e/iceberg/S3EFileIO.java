// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.iceberg.Tenants.Ends;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.apache.iceberg.util.SerializableSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Iceberg's {@link S3FileIO}, whose files are read by S3E: {@code io-impl=io.s3e.iceberg.S3EFileIO}
 * in the properties of a catalog. Writes, deletes, lists and keeps credentials as that does, and
 * sends its HEADs. Any thread.
 *
 * <p>A file whose length nobody has told or asked for is read by one GET of {@link S3FileIO}'s
 * stream, as table metadata is: to ask for the length would take another round trip. The length of
 * Parquet, Avro and ORC is asked for, by the HEAD that their readers would send next.
 *
 * <p><b>States of the reads</b>, each guarded by this object's monitor: none, before the first file
 * is opened here, which is so again after serialization, once credentials or properties are set
 * anew, and once this object is closed, as {@link S3FileIO} makes clients again then; open, with
 * tenants of the JVM's engine. Streams read on when it is closed, and end their tenant with the
 * last of them, as do all that are opened afterwards. Streams and files hold this object, whose
 * finalizer closes it unless somebody has; nothing of the engine does.
 *
 * <p>Until {@link #initialize}, an object of the constructor without arguments has no properties,
 * and a catalog sets credentials before it: what is not a read looks at neither.
 */
public class S3EFileIO extends S3FileIO {
  private static final long serialVersionUID = 1L;

  /** Whether the caller has made the client, so that no property tells how. */
  private boolean isGiven;

  /** Whether there are properties: up to Iceberg 1.9 a given client does not make any. */
  private boolean isInitialized;

  private transient @Nullable Tenants tenants;

  /** Once closed, S3FileIO's finalizer closes no more, nor that of a copy. */
  private boolean wasClosed;

  /** For {@link #initialize}, which a catalog calls. */
  public S3EFileIO() {}

  /** Reads by the given client: how it reaches the store cannot be seen. */
  public S3EFileIO(SerializableSupplier<S3Client> s3) {
    super(s3);
    isGiven = true;
  }

  /** As above. */
  public S3EFileIO(SerializableSupplier<S3Client> s3, SerializableSupplier<S3AsyncClient> s3Async) {
    super(s3, s3Async);
    isGiven = true;
  }

  /**
   * @throws IllegalArgumentException if a property of S3E's has a bad value; names the property,
   *     the value and what is accepted
   */
  @Override
  public void initialize(Map<String, String> properties) {
    S3EProperties.check(properties);
    initializeChecked(properties);
  }

  /** With properties that were found good, of which nothing is to be said a second time. */
  final void initializeChecked(Map<String, String> properties) {
    closeTenants();
    super.initialize(properties);
    isInitialized = true;
    closeTenants();
  }

  /** Also closes {@link S3FileIO}'s clients. */
  @Override
  public void setCredentials(List<StorageCredential> credentials) {
    closeTenants();
    super.setCredentials(credentials);
    closeTenants();
  }

  @Override
  public InputFile newInputFile(String path) {
    return new S3EInputFile(this, super.newInputFile(path), 0);
  }

  @Override
  public InputFile newInputFile(String path, long length) {
    return new S3EInputFile(this, super.newInputFile(path, length), length);
  }

  /** Opens the file; null if {@link S3FileIO} is to read it. */
  @Nullable SeekableInputStream open(S3EInputFile file, String location, long length) {
    return tenants().open(file, location, length);
  }

  /** Whether S3E reads files at the location, once their length is known. Sends nothing. */
  boolean reads(String location) {
    return tenants().reads(location);
  }

  private synchronized Tenants tenants() {
    Tenants known = tenants;
    if (known == null) {
      Ends ends = wasClosed ? Ends.WITH_STREAMS : Ends.WITH_OWNER;
      known = new Tenants(this, isGiven, ends);
      tenants = known;
    }
    return known;
  }

  /** Empty until there are any. */
  Map<String, String> knownProperties() {
    return isInitialized ? properties() : Map.of();
  }

  /**
   * Before {@link S3FileIO} changes and again afterwards: a file that is opened meanwhile makes a
   * tenant by what is no longer true.
   */
  private void closeTenants() {
    Tenants open;
    synchronized (this) {
      open = tenants;
      tenants = null;
    }
    if (open != null) {
      open.close();
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      wasClosed = true;
    }
    try {
      closeTenants();
    } finally {
      super.close();
    }
  }
}
