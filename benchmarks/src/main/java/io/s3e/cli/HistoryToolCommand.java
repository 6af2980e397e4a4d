// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.hadoop.history.HistoryStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** The common part of the commands of {@code history}. */
@Command
abstract class HistoryToolCommand extends ToolCommand {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private HistoryCommand parent;

  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @Parameters(paramLabel = "JOB", description = "What the job is called; digits are no difference.")
  private String job;

  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      required = true,
      description = "The job's fs.s3a.s3e.history.dir.")
  private String directory;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Hadoop's settings (*.xml), for a directory on s3a://.")
  private List<Path> configurations = new ArrayList<>();

  final String job() {
    return job;
  }

  /** The message where there is no history of the job. */
  final String nothing() {
    return "Nothing is known of " + job() + " in " + directory;
  }

  final HistoryStore store() {
    return new HistoryStore(new org.apache.hadoop.fs.Path(directory), hadoop(configurations));
  }

  @Override
  final StandardStreams streams() {
    return parent.streams();
  }
}
