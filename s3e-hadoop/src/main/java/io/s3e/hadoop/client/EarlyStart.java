package io.s3e.hadoop.client;

import io.s3e.Rehearsal;
import io.s3e.client.library.CrtLibrary;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.version.Version;
import java.util.concurrent.atomic.AtomicBoolean;
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

  private EarlyStart() {}

  /** Begins, unless another file system has. */
  public static void begin(ClientChoice client) {
    if (!BEGUN.compareAndSet(false, true)) {
      return;
    }
    boolean needsCrt = client == ClientChoice.AUTO || client == ClientChoice.CRT;
    Thread thread = new Thread(() -> load(needsCrt), "s3e-early-start");
    thread.setDaemon(true);
    thread.start();
  }

  private static void load(boolean needsCrt) {
    HadoopHooks.use();
    if (needsCrt) {
      CrtLibrary.rehearse();
    }
    Rehearsal.once();
    LOG.debug("S3E {} has rehearsed its first read", Version.text());
  }
}
