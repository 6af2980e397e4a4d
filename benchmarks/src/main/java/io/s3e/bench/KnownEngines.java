// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.Engine.HadoopEngine;
import io.s3e.bench.Engine.Tuning;
import io.s3e.bench.core.CoreFileSystem;
import io.s3e.bench.iceberg.IcebergFileSystem;
import io.s3e.bench.plain.PlainFileSystem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** The engines that can be asked for by name alone. */
final class KnownEngines {

  /**
   * Which file system is behind {@code s3a://}: every engine says so, and no file of the user's.
   */
  static final String IMPLEMENTATION = "fs.s3a.impl";

  static final String S3A = S3AFileSystem.class.getName();

  private static final String CLIENT = "fs.s3a.s3e.client";
  private static final String COLUMNAR = "fs.s3a.s3e.columnar";
  private static final String CACHE_MODE = "fs.s3a.s3e.cache.mode";

  /** Iceberg's own file IO. */
  static final String S3FILEIO = "iceberg-s3fileio";

  /**
   * S3E, over each client that it reads by, and without its cache on disk or its prediction of
   * columns; Iceberg's file IO, with S3E's in its place; the streams of S3A as a user gets each by
   * the one key that selects it, and tuned; plain readers of local files.
   */
  static final List<HadoopEngine> HADOOP =
      List.of(
          s3e("s3e", "auto"),
          // S3E's core without the adapter, which has no key for this form of its client.
          new HadoopEngine(
              "s3e-crt-bytes", Map.of(IMPLEMENTATION, CoreFileSystem.class.getName()), Tuning.NONE),
          s3e("s3e-s3a", "s3a"),
          s3eWith("s3e-nocache", Map.of(CACHE_MODE, "memory")),
          s3eWith("s3e-nocolumnar", Map.of(COLUMNAR, "off")),
          s3eWith("s3e-host", Map.of(CACHE_MODE, "disk", "fs.s3a.s3e.cache.scope", "host")),
          iceberg(S3FILEIO, IcebergFileSystem.Io.S3FILEIO),
          iceberg("iceberg-s3e", IcebergFileSystem.Io.S3E),
          plain("plain-file", PlainFileSystem.Way.STREAM),
          plain("plain-hadoop", PlainFileSystem.Way.HADOOP),
          s3a("classic", "classic", Tuning.NONE),
          s3a("prefetch", "prefetch", Tuning.NONE),
          s3a("analytics", "analytics", Tuning.NONE),
          s3a("classic-tuned", "classic", TunedPeers::classic),
          s3a("prefetch-tuned", "prefetch", TunedPeers::prefetch),
          s3a("analytics-tuned", "analytics", TunedPeers::analytics));

  /** How many ranges the raw clients have in flight when they are measured as ceilings. */
  static final List<Integer> IN_FLIGHT = List.of(16, 32);

  private KnownEngines() {}

  private static HadoopEngine s3e(String name, String client) {
    return s3eWith(name, Map.of(CLIENT, client));
  }

  private static HadoopEngine s3eWith(String name, Map<String, String> own) {
    Map<String, String> settings = new HashMap<>(own);
    settings.put(IMPLEMENTATION, "io.s3e.hadoop.S3EFileSystem");
    return new HadoopEngine(name, settings, Tuning.NONE);
  }

  private static HadoopEngine plain(String name, PlainFileSystem.Way way) {
    Map<String, String> settings =
        Map.of(IMPLEMENTATION, PlainFileSystem.class.getName(), PlainFileSystem.WAY, way.name());
    return new HadoopEngine(name, settings, Tuning.NONE);
  }

  private static HadoopEngine iceberg(String name, IcebergFileSystem.Io io) {
    Map<String, String> settings =
        Map.of(IMPLEMENTATION, IcebergFileSystem.class.getName(), IcebergFileSystem.IO, io.name());
    return new HadoopEngine(name, settings, Tuning.NONE);
  }

  private static HadoopEngine s3a(String name, String stream, Tuning tuning) {
    Map<String, String> settings = Map.of(IMPLEMENTATION, S3A, "fs.s3a.input.stream.type", stream);
    return new HadoopEngine(name, settings, tuning);
  }
}
