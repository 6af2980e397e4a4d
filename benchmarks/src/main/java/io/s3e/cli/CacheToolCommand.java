// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.disk.CacheInspector.Instance;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** The common part of the commands of {@code cache}. */
@Command
abstract class CacheToolCommand extends ToolCommand {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private CacheCommand parent;

  @ArgGroup(exclusive = false, validate = false, order = 20, heading = "%nCache:%n")
  private CacheOptions cache = new CacheOptions();

  final CacheOptions cache() {
    return cache;
  }

  @Override
  final StandardStreams streams() {
    return parent.streams();
  }

  /** The message where there is no cache. */
  final String nothingThere() {
    return "No cache in " + cache.directories();
  }

  /** A line for each instance. */
  static String table(List<Instance> instances) {
    Columns table = new Columns().name("scope").figure("size").figure("of").name("path");
    for (Instance instance : instances) {
      table.row(
          instance.scope(),
          ByteSize.format(instance.bytes()),
          ByteSize.format(instance.capacityBytes()),
          instance.path());
    }
    return table.text();
  }
}
