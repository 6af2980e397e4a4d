// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The clients that tests go through: S3E's own, and SDK clients as users give them. */
public enum EveryClient {
  CRT_BORROWED(AwsClients::crt),
  CRT_COPIED(AwsClients::crtWithoutLending),
  APACHE(UserClients::apache),
  URL_CONNECTION(UserClients::urlConnection);

  private static final long PATIENCE_SECONDS = 100;

  private final Function<AwsClientSettings, ClientProvider> providers;

  EveryClient(Function<AwsClientSettings, ClientProvider> providers) {
    this.providers = providers;
  }

  public ClientProvider provider(AwsClientSettings settings) {
    return providers.apply(settings);
  }

  ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return provider(settings).create(memory);
  }

  /** What is done with one client. */
  interface Work {
    void with(EveryClient client) throws Exception;
  }

  /** Does the same with all of them at once; for what mostly takes time. */
  static void atOnce(Work work) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      Map<EveryClient, Future<?>> running = new EnumMap<>(EveryClient.class);
      for (EveryClient client : values()) {
        Callable<Void> one =
            () -> {
              work.with(client);
              return null;
            };
        running.put(client, threads.submit(one));
      }
      for (Map.Entry<EveryClient, Future<?>> one : running.entrySet()) {
        try {
          one.getValue().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
          throw new AssertionError("by " + one.getKey(), e.getCause());
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Whether it is S3E's own. */
  boolean isCrt() {
    return this == CRT_BORROWED || this == CRT_COPIED;
  }
}
