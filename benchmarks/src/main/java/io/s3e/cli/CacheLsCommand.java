// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.disk.CacheInspector.Instance;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Shows what is cached. */
@Command(
    name = "ls",
    description = {
      "Shows the caches that processes share, and what they take on disk. Private caches have files"
          + " without names; the metrics of their processes show them.",
      "Exit code 1 if a directory of --dir was left out."
    },
    footer = {"  s3e cache ls", "  s3e cache ls --dir /mnt/nvme --json"})
final class CacheLsCommand extends CacheToolCommand {
  /** An instance, as a document has it. */
  private record InstanceFacts(
      String path, String scope, long bytes, long capacityBytes, boolean encrypted) {
    static InstanceFacts of(Instance instance) {
      return new InstanceFacts(
          instance.path().toString(),
          instance.scope(),
          instance.bytes(),
          instance.capacityBytes(),
          instance.encrypted());
    }
  }

  @Override
  int work() throws IOException {
    CacheOptions.Found found = cache().places(List.of(), streams().err());
    List<Instance> instances = found.places().stream().map(CacheOptions.Place::instance).toList();
    printResult(
        Map.of("instances", instances.stream().map(InstanceFacts::of).toList()),
        instances.isEmpty() ? nothingThere() : table(instances));
    return found.isWhole() ? 0 : 1;
  }
}
