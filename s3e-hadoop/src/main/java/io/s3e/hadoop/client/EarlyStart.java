// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.jvm.OwnLoader;
import io.s3e.version.Version;
import java.net.URI;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of the first read that can be done before anything is known of the store: the native
 * library is unpacked and loaded, and a client over it and a read are rehearsed, which loads their
 * classes; once for the JVM, on a thread of its own, while S3A initializes.
 */
public final class EarlyStart {
  private static final Logger LOG = LoggerFactory.getLogger(EarlyStart.class);
  private static final AtomicBoolean BEGUN = new AtomicBoolean();
  private static final int BLOCK_BYTES = 64 << 10;

  private EarlyStart() {}

  /**
   * Begins, unless another file system has.
   *
   * @param conf with the bucket's own settings in place
   */
  public static void begin(AdapterConfig config, Configuration conf) {
    HadoopHooks.use();
    if (!BEGUN.compareAndSet(false, true)) {
      return;
    }
    try {
      OwnLoader.thread(() -> loadIfPossible(config, isTls(conf)), "s3e-early-start").start();
    } catch (OutOfMemoryError e) {
      LOG.debug("No thread to rehearse the first read on; the next file system tries again", e);
      BEGUN.set(false);
    }
  }

  /** As far as the configuration tells; S3A's client, which knows, is not there yet. */
  private static boolean isTls(Configuration conf) {
    String endpoint = conf.getTrimmed(Constants.ENDPOINT, "").toLowerCase(Locale.ROOT);
    boolean isByDefault =
        conf.getBoolean(Constants.SECURE_CONNECTIONS, Constants.DEFAULT_SECURE_CONNECTIONS);
    return endpoint.contains("://") ? endpoint.startsWith("https:") : isByDefault;
  }

  /** Whatever ends it early, a read begins without it; a class loader may be closed meanwhile. */
  // An error that nobody catches would be printed.
  @SuppressWarnings("IllegalCatch")
  private static void loadIfPossible(AdapterConfig config, boolean isTls) {
    try {
      load(config, isTls);
    } catch (Throwable e) {
      LOG.debug("The first read is not rehearsed", e);
    }
  }

  private static void load(AdapterConfig config, boolean isTls) {
    if (config.client() != ClientChoice.S3A) {
      openClient(isTls && config.tlsCaFile().isEmpty());
    }
    Rehearsal.once();
    LOG.debug("S3E {} has rehearsed its first read", Version.text());
  }

  /**
   * Opens a client over the CRT and closes it, so that the next one finds its classes and the
   * native library ready, which takes 0.1 s of processor time. Sends nothing.
   *
   * @param trustsJvm whether the next client will trust whom the JVM trusts: those are parsed too
   */
  private static void openClient(boolean trustsJvm) {
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(URI.create(trustsJvm ? "https://localhost" : "http://localhost"))
            .anonymous(true)
            .build();
    ClientMemory memory = new ClientMemory(2 * BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES);
    try (ObjectClient client = AwsClients.crtWithoutLending(settings).create(memory)) {
      LOG.debug("Rehearsed the opening of {}", client.name());
    } catch (RuntimeException | LinkageError e) {
      LOG.debug("The CRT cannot be rehearsed", e);
    }
  }
}
