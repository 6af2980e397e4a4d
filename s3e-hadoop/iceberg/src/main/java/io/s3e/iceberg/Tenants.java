// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.iceberg.common.DynConstructors;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.apache.iceberg.metrics.MetricsContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * What one {@link S3EFileIO} reads by: a tenant of the JVM's engine for each of Iceberg's clients,
 * of which there is one for each prefix that the catalog vends credentials for. Made at the first
 * file of the prefix; closed with the owner, but for those whose streams are still read, as {@code
 * S3FileIO}'s are when that is closed: with the last of those. Any thread.
 */
final class Tenants implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Tenants.class);

  /** The class that {@code S3FileIO} counts by, where there is Hadoop. */
  private static final String HADOOP_METRICS = "org.apache.iceberg.hadoop.HadoopMetricsContext";

  /** Reasons that were told. A job makes thousands of these objects, and each has the same. */
  private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

  private final S3EFileIO owner;
  private final @Nullable String reasonAgainst;
  private final boolean isGiven;
  private final Ends ends;
  private final MetricsContext metrics;

  /** When a tenant ends. */
  enum Ends {
    WITH_OWNER,
    /** With the last of its streams: an owner that was closed before is closed by nobody. */
    WITH_STREAMS
  }

  /** A tenant, and how many of its streams are open. Guarded by its {@link Tenants}. */
  private static final class Reading {
    private final S3E tenant;
    private int streams;

    Reading(S3E tenant) {
      this.tenant = tenant;
    }
  }

  /** By identity: two clients that are equal may have different credentials. Guarded by this. */
  private final Map<S3Client, Reading> byClient = new IdentityHashMap<>();

  private boolean isClosed;

  /**
   * @param isGiven whether the caller of the owner's constructor has made the client, so that no
   *     property tells how
   */
  Tenants(S3EFileIO owner, boolean isGiven, Ends ends) {
    this.owner = owner;
    this.isGiven = isGiven;
    this.ends = ends;
    reasonAgainst = ClientView.reasonAgainstS3e(owner.knownProperties());
    metrics = metrics(owner.knownProperties());
  }

  /** All that was told; for tests. */
  static void forgetTold() {
    TOLD.clear();
  }

  /** Says it once in the JVM. */
  static void tell(String words, String reason) {
    if (TOLD.add(reason)) {
      LOG.info(words, reason);
    }
  }

  private static MetricsContext metrics(Map<String, String> properties) {
    try {
      DynConstructors.Ctor<MetricsContext> made =
          DynConstructors.builder(MetricsContext.class)
              .hiddenImpl(HADOOP_METRICS, String.class)
              .buildChecked();
      MetricsContext metrics = made.newInstance("s3");
      metrics.initialize(properties);
      return metrics;
    } catch (NoSuchMethodException | LinkageError | ClassCastException e) {
      LOG.debug("Reads are not counted by {}", HADOOP_METRICS, e);
      return MetricsContext.nullMetrics();
    }
  }

  /** Opens the file; null if it is to be read by {@code S3FileIO}. Sends nothing. */
  @Nullable SeekableInputStream open(S3EInputFile file, String location, long length) {
    ObjectRef object = object(location);
    Reading reading = object == null ? null : reading(location);
    if (reading == null || object == null) {
      return null;
    }
    S3ESeekableInputStream stream = null;
    try {
      stream = new S3ESeekableInputStream(file, reading.tenant, object, length, metrics);
      stream.endsWith(() -> end(reading));
      return stream;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      if (stream == null) {
        end(reading);
      }
    }
  }

  /** Whether S3E reads files at a location, if anybody does. */
  boolean reads(String location) {
    return object(location) != null;
  }

  /** What S3E is to read at a location; null if {@code S3FileIO} is to. */
  private @Nullable ObjectRef object(String location) {
    String reason = reasonAgainst;
    if (reason == null) {
      // What Iceberg's own stream is told for a prefix concerns the files there.
      reason = ClientView.reasonAgainstS3e(vended(location));
    }
    if (reason == null) {
      return ClientView.object(location);
    }
    tell("S3FileIO's own streams read, since {}", reason);
    return null;
  }

  /** With one stream more, which {@link #end} ends. */
  private synchronized @Nullable Reading reading(String location) {
    if (isClosed) {
      return null;
    }
    S3Client client = client(location);
    Reading reading = byClient.get(client);
    if (reading == null) {
      reading = new Reading(Maker.of(ClientView.of(client, properties(location)), isGiven).make());
      byClient.put(client, reading);
    }
    reading.streams++;
    return reading;
  }

  /** A stream is closed, or was forgotten. */
  private void end(Reading reading) {
    synchronized (this) {
      if (--reading.streams > 0 || !(isClosed || ends == Ends.WITH_STREAMS)) {
        return;
      }
      byClient.values().remove(reading);
    }
    // Which waits for what is in flight: others open files meanwhile.
    reading.tenant.close();
  }

  /** Iceberg's client for the location; up to 1.9 there is one for all. */
  private S3Client client(String location) {
    try {
      return owner.client(location);
    } catch (NoSuchMethodError e) {
      LOG.debug("This Iceberg has one client for all prefixes", e);
      return owner.client();
    }
  }

  /** The catalog's, and over them the vended ones, without S3E's own if one is not accepted. */
  private Map<String, String> properties(String location) {
    Map<String, String> vended = new HashMap<>(vended(location));
    Map<String, String> all = new HashMap<>(owner.knownProperties());
    all.putAll(vended);
    try {
      var unused = S3EProperties.config(all);
      return all;
    } catch (IllegalArgumentException e) {
      // The catalog's were checked; an answer of its server must not fail what Iceberg would read.
      if (TOLD.add(String.valueOf(e.getMessage()))) {
        LOG.warn("Properties of S3E's that came with credentials are not used: {}", e.getMessage());
      }
    }
    vended.keySet().removeIf(key -> key.startsWith(S3EProperties.PREFIX));
    all.clear();
    all.putAll(owner.knownProperties());
    all.putAll(vended);
    return all;
  }

  /** Those that came with the credentials for the longest prefix of the location. */
  private Map<String, String> vended(String location) {
    String longest = "s3";
    Map<String, String> vended = Map.of();
    for (StorageCredential each : owner.credentials()) {
      if (location.startsWith(each.prefix()) && each.prefix().length() >= longest.length()) {
        longest = each.prefix();
        vended = each.config();
      }
    }
    return vended;
  }

  @Override
  public void close() {
    List<Reading> unread;
    synchronized (this) {
      isClosed = true;
      unread = byClient.values().stream().filter(reading -> reading.streams == 0).toList();
      byClient.clear();
    }
    unread.forEach(reading -> reading.tenant.close());
  }
}
