// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.fallback.FallbackClient;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.jvm.Background;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way from S3E's own client back to S3A's, by which {@code fs.s3a.s3e.client=auto} is never
 * worse than S3A: the own one where it can be made and reaches the store, S3A's where not. Each
 * change is counted; the first one of a file system is told by one WARN line with cause and remedy.
 */
final class WayBack implements FallbackClient.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(WayBack.class);

  private final String owner;
  private final IntFunction<ClientProvider> s3a;
  private final Runnable onFallback;
  private final AtomicBoolean told = new AtomicBoolean();

  /**
   * @param owner the file system's URI, for messages
   * @param s3a makes S3A's client for so many requests at once
   * @param onFallback counts
   */
  WayBack(String owner, IntFunction<ClientProvider> s3a, Runnable onFallback) {
    this.owner = owner;
    this.s3a = s3a;
    this.onFallback = onFallback;
  }

  /** S3E's own client with S3A's behind it, or S3A's alone if the own one cannot be made. */
  ObjectClient open(ClientProvider own, ClientMemory memory) {
    return FallbackClient.open(own, requests -> s3a.apply(requests).create(memory), memory, this);
  }

  @Override
  public void onUnmade(Throwable cause) {
    tell("cannot be made", cause, "");
  }

  @Override
  public void onSubstituted(RequestFailure cause) {
    tell(
        cause.kind() == Kind.NO_ETAG
            ? "does not read what the store answers"
            : "does not reach the store, which S3A's does",
        cause,
        "; it is tried again every " + FallbackClient.RETRY_AFTER.toMinutes() + " minutes");
  }

  @Override
  public void onReturned() {
    Background.logApart(() -> LOG.info("Reading {} by S3E's own client again", owner));
  }

  /** Logs apart from the caller, on whose thread others' answers come and whose GET goes on. */
  private void tell(String problem, Throwable cause, String next) {
    onFallback.run();
    boolean isFirst = told.compareAndSet(false, true);
    Background.logApart(
        () -> {
          if (isFirst) {
            LOG.warn(
                "Reading {} by S3A's client, which is slower: S3E's own client {} ({}). {}; {} ="
                    + " \"s3a\" chooses S3A's client without a warning{}",
                owner,
                problem,
                cause instanceof CrtUnusableException ? cause.getMessage() : cause.toString(),
                remedy(cause),
                S3EKeys.CLIENT.name(),
                next);
          }
          LOG.debug("The own client of {} {}", owner, problem, cause);
        });
  }

  private static String remedy(Throwable cause) {
    if (cause instanceof CrtUnusableException) {
      return "docs/TROUBLESHOOTING.md says under \"Which client reads\" what helps";
    }
    if (FallbackClient.isLinkage(cause)) {
      return "Another version of aws-crt is in the way: look for its jar on the class path";
    }
    if (cause instanceof RequestFailure failure && failure.kind() == Kind.TLS) {
      return "Its certificate authorities are those of the JVM, or of "
          + S3EKeys.TLS_CA_FILE.name();
    }
    if (cause instanceof RequestFailure failure && failure.kind() == Kind.NO_ETAG) {
      return "Only a store that names ETags is read by it";
    }
    if (cause instanceof IllegalArgumentException) {
      return "Correct the setting that this is about (a CA file is "
          + S3EKeys.TLS_CA_FILE.name()
          + ") and start the JVM again";
    }
    return "Proxies, firewalls and name resolution may differ for the two";
  }
}
