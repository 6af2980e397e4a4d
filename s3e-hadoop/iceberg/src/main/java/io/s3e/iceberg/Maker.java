// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.fallback.FallbackClient;
import io.s3e.client.given.BlockingStore;
import io.s3e.client.given.SyncObjectClient;
import io.s3e.client.library.CrtLibrary;
import java.time.Duration;
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
record Maker(ClientView view, @Nullable String reason) {
  private static final Logger LOG = LoggerFactory.getLogger(Maker.class);

  /** As for S3A's client: a firewall costs next to nothing, and a repair is found soon. */
  private static final Duration RETRY_AFTER = Duration.ofMinutes(5);

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
    AwsClientSettings settings = view.settings();
    boolean isRequired = S3EProperties.requiresOwnClient(view.properties());
    ObjectClient fast;
    try {
      fast = AwsClients.crt(settings).create(memory);
    } catch (RuntimeException | LinkageError e) {
      if (isRequired) {
        throw e;
      }
      tell("cannot be made", e);
      return icebergs(memory, 0);
    }
    if (isRequired) {
      return fast;
    }
    ClientLimits limits = fast.limits();
    int requests = limits.copyRequests() + limits.lentSlots();
    // Such a client lets requests wait for a thread.
    ObjectClient substitute;
    try {
      substitute = icebergs(memory, (requests + 1) / 2);
    } catch (RuntimeException e) {
      fast.close();
      throw e;
    }
    return new FallbackClient(fast, substitute, RETRY_AFTER, new Told());
  }

  private ObjectClient icebergs(ClientMemory memory, int threads) {
    return new SyncObjectClient(
        BlockingStore.of(view.client()),
        "iceberg",
        view.threads(threads),
        memory.requestBytes(),
        null);
  }

  /** Hears which client reads. */
  private final class Told implements FallbackClient.Listener {
    @Override
    public void onSubstituted(RequestFailure cause) {
      tell("does not read the store", cause);
    }

    @Override
    public void onReturned() {
      LOG.info("Reading {} by S3E's own client again", view.store());
    }
  }

  private void tell(String problem, Throwable cause) {
    if (TOLD.add(String.valueOf(view.store()))) {
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
  }
}
