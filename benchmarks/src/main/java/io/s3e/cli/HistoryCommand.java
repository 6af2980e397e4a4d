// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Holds the commands that look into what jobs have learnt of their tables. */
@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    versionProvider = S3eCommand.Version.class,
    subcommands = {HistoryShowCommand.class, HistoryClearCommand.class},
    synopsisHeading = "Usage: ",
    customSynopsis = "s3e history COMMAND [OPTION...] JOB",
    descriptionHeading = "%n",
    description = "Shows what a job has learnt of its tables, and whether it helps; forgets it.",
    optionListHeading = "%nOptions:%n",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  s3e history show --dir s3a://bucket/histories nightly",
      "  s3e history clear --dir s3a://bucket/histories nightly"
    })
final class HistoryCommand {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private S3eCommand parent;

  StandardStreams streams() {
    return parent.streams();
  }
}
