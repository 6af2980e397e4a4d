package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.CacheInspector.Instance;
import io.s3e.disk.SharedRegionsRig.Found;
import io.s3e.testing.TestDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A shared cache whose first log, region or layout somebody has made up: a byte that chooses among
 * {@link Part}s, and what they hold. Tools tell of it, and a process that opens it takes no wrong
 * byte.
 */
public final class CacheFilesFuzz {

  /** The place of the input in the cache. */
  private enum Part {
    LOG,
    /** Behind the honest records, as of the generation of these. */
    END_OF_LOG,
    DATA,
    LAYOUT
  }

  /** Where a record has its generation. */
  private static final int GENERATION = 4;

  private CacheFilesFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    if (input.length == 0) {
      return;
    }
    Path directory = TestDirectories.empty("cache-files-fuzz");
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      assertThat(rig.append(rig.object("honest", 1), 0)).isTrue();
    }
    Part[] parts = Part.values();
    put(
        parts[(input[0] & 0xFF) % parts.length],
        Arrays.copyOfRange(input, 1, input.length),
        SharedRegionsRig.instance(directory));
    inspect(directory);
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      assertThat(rig.read(rig.object("honest", 1), 0)).isNotEqualTo(Found.WRONG);
    } catch (RefusedDirectoryException e) {
      assertThat(e).hasMessageContaining("encrypted");
    }
  }

  private static void put(Part part, byte[] bytes, Path instance) throws IOException {
    Path log = SharedRegionsRig.logOf(instance, 0);
    switch (part) {
      case LOG -> Files.write(log, FuzzedRecords.repair(bytes));
      case END_OF_LOG -> {
        byte[] header = Files.readAllBytes(log);
        for (int at = 0;
            at + RegionLog.RECORD_BYTES <= bytes.length;
            at += RegionLog.RECORD_BYTES) {
          System.arraycopy(header, GENERATION, bytes, at + GENERATION, Integer.BYTES);
        }
        Files.write(log, FuzzedRecords.repair(bytes), StandardOpenOption.APPEND);
      }
      case DATA -> Files.write(SharedRegionsRig.dataOf(instance, 0), bytes);
      case LAYOUT -> Files.write(instance.resolve(Layout.NAME), FuzzedRecords.repair(bytes));
      default -> throw new AssertionError(part);
    }
  }

  private static void inspect(Path directory) throws IOException {
    for (Instance each : new CacheInspector(directory).instances()) {
      assertThat(each.capacityBytes()).isPositive();
    }
  }
}
