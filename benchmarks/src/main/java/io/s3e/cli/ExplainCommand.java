// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.explain.Explanation;
import io.s3e.explain.ExplanationText;
import io.s3e.explain.LiveGets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/**
 * Explains where time and money of Spark applications went, from their event logs, and what the
 * GETs of a JVM were for.
 */
@Command(
    name = "explain",
    description = {
      "Says where time and money of Spark applications went, by table, job and stage, and what"
          + " would save some of it, the most first; it is silent where there is nothing to save.",
      "It reads event logs: a file, a rolling log (eventlog_v2_...) or a directory of both, local"
          + " or s3a://, compressed or not, of applications that have ended, run or were killed.",
      "With --pid it says what the latest GETs of a JVM that runs were for, and what became of"
          + " their bytes."
    },
    footer = {
      "  s3e explain /tmp/spark-events/app-20260101000000-0000.zstd",
      "  s3e explain --json s3a://bucket/spark-events",
      "  s3e explain --look --conf core-site.xml eventlog_v2_app-20260101000000-0000",
      "  s3e explain --pid 4711 --json"
    })
final class ExplainCommand extends ToolCommand {
  /** As of the plugin's own key. */
  private static final double DEAREST_HOUR = 1000;

  @SuppressWarnings("NullAway.Init") // Set by picocli.
  @ParentCommand
  private S3eCommand parent;

  @ArgGroup(exclusive = true, multiplicity = "1")
  private Subject subject = new Subject();

  /** One of them. */
  private static final class Subject {
    @Parameters(
        paramLabel = "EVENTLOG",
        arity = "0..1",
        description = "The log, or a directory of logs.")
    private @Nullable String log;

    @Option(
        names = "--pid",
        paramLabel = "PID",
        description = "The JVM that is to tell of its latest GETs; of this user, on this host.")
    private @Nullable Long pid;
  }

  @Option(
      names = "--look",
      description =
          "Also open the footers of some Parquet files of each table that the log names: row"
              + " groups, footers, dictionaries, page indexes.")
  private boolean look;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Hadoop's settings (*.xml), for logs and tables on s3a://.")
  private List<Path> configurations = new ArrayList<>();

  @Option(
      names = "--price-vcpu",
      paramLabel = "USD",
      description =
          "Price of an hour of a task slot. Default: the application's spark.s3e.price.vcpu, else"
              + " 0.05.")
  private @Nullable Double vcpuHour;

  @Override
  StandardStreams streams() {
    return parent.streams();
  }

  @Override
  int work() throws IOException {
    if (subject.pid != null) {
      LiveGets live = LiveGets.of(subject.pid);
      printResult(live, LiveGetsText.of(live));
      return 0;
    }
    List<String> unread = explain(String.valueOf(subject.log));
    unread.forEach(each -> streams().err().println("Left out: " + each));
    return unread.isEmpty() ? 0 : 1;
  }

  private List<String> explain(String log) throws IOException {
    Configuration conf = hadoop(configurations);
    if (vcpuHour != null && !(vcpuHour >= 0 && vcpuHour <= DEAREST_HOUR)) {
      throw wrong("--price-vcpu is " + vcpuHour + "; accepted is a number from 0 to 1000");
    }
    OptionalDouble price = vcpuHour == null ? OptionalDouble.empty() : OptionalDouble.of(vcpuHour);
    // What is shown of an application is a small part of what its log says.
    List<Map<String, Object>> documents = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    List<String> unread =
        Explanation.each(
            log,
            new Explanation.Options(conf, look, price),
            each -> {
              documents.add(ExplanationText.document(each));
              texts.add(ExplanationText.text(each));
            });
    printResult(
        Map.of("applications", documents), String.join(System.lineSeparator().repeat(2), texts));
    return unread;
  }
}
