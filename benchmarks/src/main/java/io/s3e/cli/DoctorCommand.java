// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.s3e.hadoop.doctor.DoctorProgram;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** The doctor, on the class path of this command. */
@Command(
    name = "doctor",
    description = {
      "Says whether S3E would read by a configuration of Hadoop's or Spark's, by which client, with"
          + " which memory and cache, and what is to be done; reads the first 64 KiB of an object.",
      "It looks at the libraries of this command. For those of a cluster run the same by the bundle"
          + " jar there: hadoop jar BUNDLE.jar.",
      "Ends with 0 if S3E is ready and with 1 if something is to be done."
    },
    footer = {
      "  s3e doctor --conf core-site.xml",
      "  s3e doctor --conf spark-defaults.conf --json s3a://bucket/key"
    })
final class DoctorCommand extends ToolCommand {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private S3eCommand parent;

  @Parameters(
      arity = "0..*",
      paramLabel = "s3a://BUCKET[/KEY]",
      description = "Buckets to look at, and objects to read.")
  private List<String> places = new ArrayList<>();

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Hadoop's settings (*.xml), or Spark's (spark-defaults.conf).")
  private List<Path> configurations = new ArrayList<>();

  @Override
  StandardStreams streams() {
    return parent.streams();
  }

  @Override
  int work() throws IOException {
    List<String> arguments = new ArrayList<>();
    if (output().json()) {
      arguments.add("--json");
    }
    configurations.forEach(file -> arguments.addAll(List.of("--conf", file.toString())));
    arguments.addAll(places);
    StandardOutput output = new StandardOutput(streams().out());
    int code =
        DoctorProgram.run(
            new PrintStream(Channels.newOutputStream(output), false, UTF_8),
            streams().err(),
            arguments.toArray(String[]::new));
    // A PrintStream tells nobody that the disk is full.
    IOException unwritten = output.failure();
    if (unwritten != null) {
      throw unwritten;
    }
    return code;
  }
}
