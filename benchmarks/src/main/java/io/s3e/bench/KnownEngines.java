package io.s3e.bench;

import io.s3e.bench.Engine.HadoopEngine;
import java.util.List;
import java.util.Map;

/** The engines that can be asked for by name alone. */
final class KnownEngines {

  private static final String STREAM_TYPE = "fs.s3a.input.stream.type";

  /** S3E, and the streams of S3A as a user gets each by the one key that selects it. */
  static final List<HadoopEngine> HADOOP =
      List.of(
          new HadoopEngine("s3e", Map.of("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem")),
          new HadoopEngine("classic", Map.of(STREAM_TYPE, "classic")),
          new HadoopEngine("prefetch", Map.of(STREAM_TYPE, "prefetch")),
          new HadoopEngine("analytics", Map.of(STREAM_TYPE, "analytics")));

  /** How many ranges the raw clients have in flight when they are measured as ceilings. */
  static final List<Integer> IN_FLIGHT = List.of(16, 32);

  private KnownEngines() {}
}
