// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.s3e.bench.BenchCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.Channels;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command itself: holds the sub-commands, turns failures into one line and an exit code.
 * Arguments without a sub-command are for {@code bench}.
 */
@Command(
    name = "s3e",
    mixinStandardHelpOptions = true,
    versionProvider = S3eCommand.Version.class,
    subcommands = {
      BenchCommand.class,
      GetCommand.class,
      PutCommand.class,
      CatCommand.class,
      StatCommand.class,
      CacheCommand.class,
      DoctorCommand.class,
      ExplainCommand.class,
      HistoryCommand.class,
      GenerateCompletion.class
    },
    synopsisHeading = "Usage: ",
    customSynopsis = "s3e COMMAND [OPTION...] [ARGUMENT...]",
    descriptionHeading = "%n",
    description = "Reads and writes S3 objects by many requests at once, and measures S3E.",
    optionListHeading = "%nOptions:%n",
    commandListHeading = "%nCommands:%n",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:failed; standard error says why",
      "2:wrong usage",
      "130:interrupted",
      "141:whoever read standard output has closed it"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  s3e get s3a://bucket/key                      into ./key",
      "  s3e get --discard s3a://bucket/key            to measure alone",
      "  s3e put FILE s3a://bucket/key",
      "  s3e cat s3a://bucket/a s3a://bucket/b | gzip -d | head",
      "  s3e stat --json s3a://bucket/key",
      "  s3e cache ls                                  what is on local disk",
      "  s3e doctor --conf core-site.xml               would S3E read?",
      "  s3e explain EVENTLOG                          where did a Spark job's time go?",
      "  s3e explain --pid 4711                        what were a JVM's latest GETs for?",
      "  s3e history show --dir DIR JOB                does what past runs tell help a job?",
      "  s3e bench                                     without an account",
      "  . <(s3e generate-completion)                  completion for bash and zsh",
      "",
      "s3e COMMAND --help tells the rest. Without a command it is bench."
    })
public final class S3eCommand {
  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;
  private static final int CLOSED_PIPE = 141;
  private static final Set<String> OWN_OPTIONS = Set.of("-h", "--help", "-V", "--version");
  private static final String BENCH = "bench";
  private static final String VERBOSE = "--verbose";

  /** What Java makes of bytes of an argument that the locale's encoding does not have. */
  private static final char LOST = '\uFFFD';

  private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  private final StandardStreams streams;

  private S3eCommand(StandardStreams streams) {
    this.streams = streams;
  }

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    System.exit(execute(StandardStreams.ofProcess(), args));
  }

  /**
   * Runs the command in this JVM.
   *
   * @return the exit code, as {@code --help} lists them
   */
  public static int execute(StandardStreams streams, String... args) {
    CommandLine commandLine = new CommandLine(new S3eCommand(streams));
    StandardOutput output = new StandardOutput(streams.out());
    commandLine
        .setUsageHelpAutoWidth(true)
        .setOut(new PrintWriter(Channels.newOutputStream(output), true, UTF_8))
        .setErr(new PrintWriter(streams.err(), true, UTF_8))
        .setCaseInsensitiveEnumValuesAllowed(true)
        // A file may be called @name.
        .setExpandAtFiles(false)
        .setExecutionStrategy(S3eCommand::run)
        .setParameterExceptionHandler((e, given) -> wrongUsage(e))
        .setExecutionExceptionHandler(S3eCommand::failed);
    int code = commandLine.execute(withCommand(args));
    commandLine.getOut().flush();
    // A PrintWriter tells nobody that the disk is full.
    IOException unwritten = output.failure();
    return code == 0 && unwritten != null ? failed(unwritten, commandLine, null) : code;
  }

  StandardStreams streams() {
    return streams;
  }

  /** {@code java -jar s3e-benchmarks.jar [OPTION...] [s3a://BUCKET/KEY]} is a benchmark. */
  private static String[] withCommand(String[] args) {
    boolean named =
        args.length > 0
            && (OWN_OPTIONS.contains(args[0])
                || !(args[0].startsWith("-") || ObjectUri.isOne(args[0])));
    if (named) {
      return args;
    }
    String[] whole = new String[args.length + 1];
    whole[0] = BENCH;
    System.arraycopy(args, 0, whole, 1, args.length);
    return whole;
  }

  private static int run(ParseResult parsed) {
    refuseLostCharacters(parsed);
    ParseResult innermost = innermost(parsed);
    // A transfer says itself what went wrong, once; bench keeps the level of
    // simplelogger.properties.
    boolean quiet =
        !innermost.commandSpec().name().equals(BENCH) && System.getProperty(LOG_LEVEL) == null;
    if (quiet) {
      System.setProperty(LOG_LEVEL, isVerbose(innermost) ? "info" : "off");
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  /** The name of another object may be the same without them: nothing is read or written by it. */
  private static void refuseLostCharacters(ParseResult parsed) {
    for (String argument : parsed.expandedArgs()) {
      if (argument.indexOf(LOST) >= 0) {
        throw new ParameterException(
            innermost(parsed).commandSpec().commandLine(),
            "characters of \""
                + argument
                + "\" are lost: Java cannot read them in the encoding of this locale, "
                + System.getProperty("sun.jnu.encoding")
                + "; set LC_ALL=C.UTF-8, and give arguments in UTF-8");
      }
    }
  }

  private static ParseResult innermost(ParseResult parsed) {
    ParseResult at = parsed;
    while (at.hasSubcommand()) {
      at = at.subcommand();
    }
    return at;
  }

  private static boolean isVerbose(@Nullable ParseResult parsed) {
    return parsed != null && innermost(parsed).hasMatchedOption(VERBOSE);
  }

  private static int wrongUsage(ParameterException e) {
    CommandLine commandLine = e.getCommandLine();
    PrintWriter err = commandLine.getErr();
    String name = commandLine.getCommandSpec().qualifiedName();
    err.println(name + ": " + e.getMessage());
    if (e instanceof UnmatchedArgumentException unmatched) {
      Optional<String> meant = Suggestion.of(unmatched);
      String first = unmatched.getUnmatched().get(0);
      if (meant.isPresent()) {
        err.println("Did you mean " + meant.get() + "?");
      } else if (!commandLine.getSubcommands().isEmpty() && !first.startsWith("-")) {
        String all = String.join(", ", commandLine.getSubcommands().keySet());
        err.println("There is no command '" + first + "'; there are " + all + ".");
      }
    }
    err.println("See " + name + " --help.");
    return WRONG_USAGE;
  }

  private static int failed(Exception e, CommandLine commandLine, @Nullable ParseResult parsed) {
    if (ClosedPipeException.isBehind(e)) {
      return CLOSED_PIPE;
    }
    if (AtExit.isUnderWay()) {
      // The failure is the consequence of the interruption, which needs no explanation.
      return FAILED;
    }
    String name = commandLine.getCommandSpec().qualifiedName();
    commandLine.getErr().println(name + ": " + FailureLine.of(e));
    if (isVerbose(parsed)) {
      e.printStackTrace(commandLine.getErr());
    }
    return FAILED;
  }

  /** The version in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"s3e " + io.s3e.version.Version.text()};
    }
  }
}
