// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.CacheInspector.Instance;
import io.s3e.disk.SharedRegionsRig.Found;
import io.s3e.testing.TestDirectories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A shared cache whose first table, region or layout somebody has made up: a byte that chooses
 * among {@link Part}s, and what they hold. Tools tell of it, and a process that opens it takes no
 * wrong byte.
 */
public final class CacheFilesFuzz {

  /** The place of the input in the cache. */
  private enum Part {
    TABLE,
    /** Behind the honest records. */
    END_OF_TABLE,
    DATA,
    LAYOUT
  }

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
    Path file = SharedRegionsRig.fileOf(instance, 0);
    switch (part) {
      case TABLE -> write(file, 0, FuzzedRecords.repair(bytes));
      case END_OF_TABLE -> write(file, 2 * RegionTable.RECORD_BYTES, FuzzedRecords.repair(bytes));
      case DATA -> write(file, SharedRegionsRig.tableBytes(), bytes);
      case LAYOUT -> Files.write(instance.resolve(Layout.NAME), FuzzedRecords.repair(bytes));
      default -> throw new AssertionError(part);
    }
  }

  private static void write(Path file, long position, byte[] bytes) throws IOException {
    try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
      open.write(ByteBuffer.wrap(bytes), position);
    }
  }

  private static void inspect(Path directory) throws IOException {
    for (Instance each : new CacheInspector(directory).instances()) {
      assertThat(each.capacityBytes()).isPositive();
    }
  }
}
