package io.s3e.cli;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** What the commands of {@code cache} have in common. */
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

  /** What to say where there is nothing. */
  final String nothingThere() {
    return "No cache in " + cache.directories();
  }
}
