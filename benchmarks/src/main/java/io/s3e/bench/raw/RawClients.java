// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import io.s3e.bench.PemTrust;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.given.SdkCredentials;
import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** Makes raw clients, each with as many connections and as much memory as its ranges need. */
public final class RawClients {

  private static final int MIB = 1 << 20;

  /** Slots are as long as a block at least, so that each has room for a range. */
  private static final int BLOCK_BYTES = RawCeiling.RANGE_BYTES;

  /** The CRT client keeps 16 slots for short reads, which these reads never use. */
  private static final long SHORT_READ_BYTES = 16L * BLOCK_BYTES;

  /**
   * The client makes its slots shorter if it cannot have so many. It takes memory for those in use
   * alone, 16 slots at a time.
   */
  private static final int LEAST_SLOTS = 48;

  /** Far above what any of these reach, so that it never limits the number of connections. */
  private static final double TARGET_GBPS = 100;

  private RawClients() {}

  /** Makes the client of a ceiling. */
  public static RawClient open(RawCeiling ceiling, AwsClientSettings store) {
    return switch (ceiling.client()) {
      case CRT -> crt(ceiling, store, true);
      case CRT_BYTES -> crt(ceiling, store, false);
      case SYNC -> sync(ceiling, store);
    };
  }

  /**
   * Direct memory in MiB that the JVM of a ceiling must allow: the CRT takes at most 80 % of {@code
   * MaxDirectMemorySize} for its pools.
   */
  public static long directMebibytes(RawCeiling ceiling) {
    return crtBytes(ceiling) / MIB * 5 / 4 + 64;
  }

  private static long crtBytes(RawCeiling ceiling) {
    int slots = Math.max(ceiling.inFlight(), LEAST_SLOTS);
    return (long) slots * RawCeiling.RANGE_BYTES + SHORT_READ_BYTES;
  }

  private static RawClient crt(RawCeiling ceiling, AwsClientSettings store, boolean lend) {
    AwsClientSettings settings =
        store.toBuilder().targetGbps(TARGET_GBPS).maxConnections(256).build();
    ClientMemory memory = new ClientMemory(crtBytes(ceiling), RawCeiling.RANGE_BYTES, BLOCK_BYTES);
    ObjectClient client =
        (lend ? AwsClients.crt(settings) : AwsClients.crtWithoutLending(settings)).create(memory);
    ClientLimits limits = client.limits();
    int bytes = lend ? limits.lentSlotBytes() : limits.copyRequestBytes();
    int slots = lend ? limits.lentSlots() : limits.copyRequests();
    if (bytes < RawCeiling.RANGE_BYTES || slots < ceiling.inFlight()) {
      client.close();
      throw new IllegalStateException(ceiling.name() + " cannot have its buffers: " + limits);
    }
    return new SpiRawClient(client, lend);
  }

  private static RawClient sync(RawCeiling ceiling, AwsClientSettings store) {
    ApacheHttpClient.Builder transport =
        ApacheHttpClient.builder().maxConnections(ceiling.inFlight());
    if (store.caFile() != null) {
      transport.tlsTrustManagersProvider(PemTrust.of(store.caFile()));
    }
    SdkHttpClient http = transport.build();
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClient(http)
            .region(region(store))
            .credentialsProvider(credentials(store))
            .forcePathStyle(store.pathStyle())
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
    if (store.endpoint() != null) {
      builder.endpointOverride(store.endpoint());
    }
    return new SyncRawClient(builder.build(), http::close, ceiling.inFlight());
  }

  private static Region region(AwsClientSettings store) {
    String region = store.region();
    URI endpoint = store.endpoint();
    if (region != null) {
      return Region.of(region);
    }
    return endpoint != null ? Region.US_EAST_1 : new DefaultAwsRegionProviderChain().getRegion();
  }

  private static AwsCredentialsProvider credentials(AwsClientSettings store) {
    return store.credentials() instanceof SdkCredentials given
        ? given.provider()
        : DefaultCredentialsProvider.builder().build();
  }
}
