// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetRecord;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Eventually;
import io.s3e.testing.MemoryObjectClient;

/**
 * A JVM that reads three blocks of an object by three GETs, says so, and waits for the end of its
 * standard input. Its argument is whether GETs are remembered.
 */
final class ReadingJvm {
  static final ObjectRef OBJECT = new ObjectRef("bucket", "a \"key\"\n");
  static final String LABEL = "stage 3, task 17";
  static final int BLOCK = 64 << 10;
  static final int READS = 3;

  private ReadingJvm() {}

  public static void main(String[] arguments) throws Exception {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(BLOCK, 4, 0));
    client.put(OBJECT, MemoryObjectClient.bytes(2 * READS * BLOCK, 1), "\"v1\"");
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .requestBytes(BLOCK)
            .explain(new ExplainConfig(Boolean.parseBoolean(arguments[0]), null))
            .build();
    OpenOptions options = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM).withLabel(LABEL);
    try (S3E engine = S3E.create(config, new MemoryBudget(64L * BLOCK), granted -> client);
        S3EInputStream in = engine.open(OBJECT, options)) {
      for (int read = 0; read < READS; read++) {
        in.readFullyAt(2L * read * BLOCK, new byte[9], 0, 9);
      }
      Eventually.awaitTrue(
          "all GETs have ended",
          () -> engine.gets().latest(OBJECT, READS).stream().allMatch(GetRecord::hasEnded));
      System.out.println("READ");
      while (System.in.read() >= 0) {
        // Until its end.
      }
    }
  }
}
