// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Holds the commands that look into the cache on local disk. */
@Command(
    name = "cache",
    mixinStandardHelpOptions = true,
    versionProvider = S3eCommand.Version.class,
    subcommands = {CacheLsCommand.class, CacheClearCommand.class},
    synopsisHeading = "Usage: ",
    customSynopsis = "s3e cache COMMAND [OPTION...] [ARGUMENT...]",
    descriptionHeading = "%n",
    description = "Looks into the cache on local disk and clears it.",
    optionListHeading = "%nOptions:%n",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  s3e cache ls --dir /mnt/nvme", "  s3e cache clear --yes host"})
final class CacheCommand {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private S3eCommand parent;

  StandardStreams streams() {
    return parent.streams();
  }
}
