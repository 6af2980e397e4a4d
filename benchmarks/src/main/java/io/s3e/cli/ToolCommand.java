// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.s3e.bench.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The common part of all commands but {@code bench}. */
@Command(
    mixinStandardHelpOptions = true,
    versionProvider = S3eCommand.Version.class,
    sortOptions = false,
    synopsisHeading = "Usage: ",
    descriptionHeading = "%n",
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n")
abstract class ToolCommand implements Callable<Integer> {
  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @Spec
  private CommandSpec spec;

  @ArgGroup(exclusive = false, validate = false, order = 30, heading = "%nOutput:%n")
  private OutputOptions output = new OutputOptions();

  abstract StandardStreams streams();

  final OutputOptions output() {
    return output;
  }

  /** Bars on standard error, if they are wanted. */
  final Progress progress() {
    StandardStreams streams = streams();
    boolean terminal = streams.errIsTerminal();
    return new Progress(streams.err(), output.progress(terminal), terminal);
  }

  /** Runs the command; an option that makes no sense is the user's to correct. */
  @Override
  public final Integer call() throws Exception {
    try {
      return work();
    } catch (IllegalArgumentException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  /**
   * The work. Failures are told by the caller.
   *
   * @return the exit code
   */
  abstract int work() throws IOException, InterruptedException;

  final ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /**
   * Hadoop's settings, with those of the files of {@code --conf}.
   *
   * @throws IllegalArgumentException for what is no file, which Hadoop would pass over in silence
   */
  static Configuration hadoop(List<Path> files) {
    Configuration conf = new Configuration();
    for (Path file : files) {
      if (Files.isDirectory(file) || !Files.isReadable(file)) {
        throw new IllegalArgumentException(
            "--conf \"" + file + "\": expected a file that can be read");
      }
      conf.addResource(new org.apache.hadoop.fs.Path(file.toUri()));
    }
    return conf;
  }

  /** Prints the result: a document, or the text. */
  final void printResult(Object document, String text) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        output.json()
            ? new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValueAsString(document)
            : text);
    out.flush();
  }
}
