// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.CredentialsSource;
import io.s3e.client.ForwardingClient;
import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.StoreAnswer;
import io.s3e.client.Transport;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.JvmTrust;
import io.s3e.client.fallback.FallbackClient;
import io.s3e.client.given.BlockingStore;
import io.s3e.client.given.SdkCredentials;
import io.s3e.client.given.SyncObjectClient;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.library.CrtMemoryException;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.columnar.ColumnarMode;
import io.s3e.columnar.LayoutMemory;
import io.s3e.columnar.PlaceFacts;
import io.s3e.columnar.SplitSource;
import io.s3e.disk.CacheInspector;
import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.jvm.Background;
import io.s3e.jvm.HostSizing;
import io.s3e.jvm.JvmEnd;
import io.s3e.jvm.OwnLoader;
import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.Announcement;
import io.s3e.stream.S3EInputStream;
import io.s3e.version.Version;
import java.util.Set;

/**
 * The types of the core that other modules may name (docs/adr/0016-exports.md). A nested type is
 * exported with the type around it. Everything else that is public is public for the core's own
 * packages and changes without notice.
 */
public final class Exports {
  /** Types for every user: signatures of these name only these. */
  public static final Set<Class<?>> API =
      Set.of(
          // The engine and its streams.
          S3E.class,
          EngineHold.class,
          S3EConfig.class,
          OpenOptions.class,
          ProgressListener.class,
          DiskUse.class,
          S3EInputStream.class,
          Announcement.class,
          ReadPolicy.class,
          ColumnarMode.class,
          SplitSource.class,
          LayoutMemory.class,
          PlaceFacts.class,
          ObjectRef.class,
          ByteRange.class,
          ObjectChangedException.class,
          MemoryBudget.class,
          // Counters and events.
          Counters.class,
          EngineMetrics.class,
          DiskMetrics.class,
          StreamListener.class,
          ExplainConfig.class,
          GetLedger.class,
          GetRecord.class,
          GetSink.class,
          // The cache on local disk.
          DiskCacheConfig.class,
          CacheKey.class,
          // S3E's clients.
          AwsClients.class,
          AwsClientSettings.class,
          SdkCredentials.class,
          SyncObjectClient.class,
          BlockingStore.class,
          // The SPI for a user's own client.
          ObjectClient.class,
          ClientProvider.class,
          CredentialsSource.class,
          ClientMemory.class,
          ClientLimits.class,
          Transport.class,
          GetRequest.class,
          HeadRequest.class,
          ObjectHead.class,
          ResponseHandler.class,
          ResponseHead.class,
          LentBuffer.class,
          RequestFailure.class,
          Remedy.class,
          StoreAnswer.class,
          ForwardingClient.class,
          ForwardingHandler.class);

  /** Types for s3e-hadoop beside those. */
  public static final Set<Class<?>> FOR_ADAPTER =
      Set.of(
          FallbackClient.class,
          CrtLibrary.class,
          CrtMemoryException.class,
          CrtUnusableException.class,
          Background.class,
          HostSizing.class,
          JvmEnd.class,
          OwnLoader.class,
          JvmTrust.class,
          Version.class);

  /**
   * Types for the command line of benchmarks beside those. Its micro-benchmarks measure the inside
   * of the core and may name all of it.
   */
  public static final Set<Class<?>> FOR_COMMAND_LINE = Set.of(CacheInspector.class);

  private Exports() {}

  /** Whether a type of that binary name is exported with one of {@code exported}. */
  public static boolean covers(Set<Class<?>> exported, String name) {
    return exported.stream()
        .map(Class::getName)
        .anyMatch(outer -> name.equals(outer) || name.startsWith(outer + "$"));
  }
}
