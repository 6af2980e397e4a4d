// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import io.s3e.DiskUse;
import io.s3e.S3E;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.version.Version;
import java.util.Locale;
import org.apache.hadoop.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one INFO line for each engine that begins to read. Its logger is that of S3E's file system,
 * whichever seam reads: the last word of its name is all that Spark's and Hadoop's patterns show.
 */
final class StartLine {
  private static final Logger LOG = LoggerFactory.getLogger("io.s3e.hadoop.S3EFileSystem");

  private StartLine() {}

  /** Logs the line once it is known whether there is a cache on disk; does not wait for that. */
  static void tell(String owner, S3E engine) {
    engine.whenDiskCacheIsOpen(() -> LOG.info("{}", text(owner, engine)));
  }

  /** Without a secret: the cache's configuration is shown field by field. */
  static String text(String owner, S3E engine) {
    return String.format(
        Locale.ROOT,
        "S3E %s reads %s by client %s; budget %d MiB, blocks of %s; cache %s; Hadoop %s",
        Version.text(),
        owner,
        engine.client().name(),
        engine.memoryLimit() >> 20,
        ConfigValues.sizeText(engine.config().blockBytes()),
        place(engine),
        VersionInfo.getVersion());
  }

  private static String place(S3E engine) {
    DiskUse use = engine.diskUse();
    if (use == null) {
      return "in memory only";
    }
    DiskCacheConfig cache = engine.config().diskCache();
    return String.format(
        Locale.ROOT,
        "in memory and %s in %s (%s, %s%s)",
        ConfigValues.roundedSize(use.capacityBytes()),
        cache.directories(),
        cache.mode().name().toLowerCase(Locale.ROOT),
        cache.scope().name().toLowerCase(Locale.ROOT),
        cache.key() == null ? "" : ", encrypted");
  }
}
