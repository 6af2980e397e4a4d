// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.fallback.FallbackClient;
import io.s3e.client.given.BlockingStore;
import io.s3e.client.given.SyncObjectClient;
import io.s3e.client.library.CrtLibrary;
import io.s3e.jvm.Background;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a tenant for one of Iceberg's clients: over S3E's own client with Iceberg's behind it, or
 * over Iceberg's alone where only that can send requests. Whatever is made holds Iceberg's client
 * and not the {@link S3EFileIO}, whose finalizer is to come.
 *
 * @param reason why Iceberg's client sends the requests; null if it does not
 */
record Maker(ClientView view, @Nullable String reason) implements FallbackClient.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(Maker.class);

  /** Stores of which it was told that S3E's own client does not reach them. */
  private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

  /**
   * @param isGiven whether the client was given to the constructor
   */
  static Maker of(ClientView view, boolean isGiven) {
    String reason = isGiven ? "the client was given to its constructor" : view.reasonAgainstOwn();
    return new Maker(view, reason == null ? CrtLibrary.unusableBecause() : reason);
  }

  S3E make() {
    S3EConfig config =
        S3EProperties.config(view.properties()).toBuilder().store(view.store()).build();
    if (reason != null) {
      Tenants.tell("Iceberg's S3 client sends the requests and not the AWS CRT, since {}", reason);
      return S3E.create(config, memory -> icebergs(memory, 0));
    }
    return S3E.create(config, this::own);
  }

  private ObjectClient own(ClientMemory memory) {
    // Settings that S3E's own client refuses are one more reason for Iceberg's.
    ClientProvider fast = granted -> AwsClients.crt(view.settings()).create(granted);
    return S3EProperties.requiresOwnClient(view.properties())
        ? fast.create(memory)
        // Iceberg's lets requests wait for a thread.
        : FallbackClient.open(fast, requests -> icebergs(memory, (requests + 1) / 2), memory, this);
  }

  private ObjectClient icebergs(ClientMemory memory, int threads) {
    return new SyncObjectClient(
        BlockingStore.of(view.client()), "iceberg", view.threads(threads), memory.requestBytes());
  }

  @Override
  public void onUnmade(Throwable cause) {
    tell("cannot be made", cause);
  }

  @Override
  public void onSubstituted(RequestFailure cause) {
    tell("does not read the store", cause);
  }

  @Override
  public void onReturned() {
    Background.logApart(() -> LOG.info("Reading {} by S3E's own client again", view.store()));
  }

  /** Logs apart from the caller, on whose thread others' answers come and whose GET goes on. */
  private void tell(String problem, Throwable cause) {
    boolean isFirst = TOLD.add(String.valueOf(view.store()));
    Background.logApart(
        () -> {
          if (isFirst) {
            LOG.warn(
                "Reading {} by Iceberg's S3 client, which is slower: S3E's own client {} ({}). {} ="
                    + " \"{}\" chooses Iceberg's without a warning",
                view.store(),
                problem,
                cause.toString(),
                S3EProperties.CLIENT,
                S3EProperties.CLIENT_OF_ICEBERG);
          }
          LOG.debug("The own client of {} {}", view.store(), problem, cause);
        });
  }
}
