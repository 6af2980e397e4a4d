// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** The common part of the commands that speak with a store. */
@Command
abstract class StoreCommand extends ToolCommand {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private S3eCommand parent;

  @ArgGroup(exclusive = false, validate = false, order = 20, heading = "%nStore:%n")
  private StoreOptions store = new StoreOptions();

  final StoreOptions store() {
    return store;
  }

  @Override
  final StandardStreams streams() {
    return parent.streams();
  }

  @Override
  final int work() throws IOException, InterruptedException {
    run();
    return 0;
  }

  /** The work. Failures are told by the caller. */
  abstract void run() throws IOException, InterruptedException;
}
