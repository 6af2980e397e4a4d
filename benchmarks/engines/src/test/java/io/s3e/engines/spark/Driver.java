// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.engines.Harness;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.StepResult;
import io.s3e.engines.spark.job.Steps;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/**
 * A Spark application that stays and does steps as they are asked for, with the JIT and the
 * collector that Java chooses by itself. All streams are read through the same clock, but for those
 * of the plugin, which sets the file system itself and is read through none.
 *
 * <p>One thread may call. The application ends when its input is closed, or with this process.
 */
final class Driver implements AutoCloseable {
  private static final Duration EXIT = Duration.ofSeconds(60);

  private static final String QUIET_LOG =
      """
      rootLogger.level=warn
      rootLogger.appenderRef.console.ref=console
      appender.console.type=Console
      appender.console.name=console
      appender.console.target=SYSTEM_ERR
      appender.console.layout.type=PatternLayout
      appender.console.layout.pattern=%d{HH:mm:ss.SSS} %p %c: %m%n
      """;

  /**
   * What an application gets.
   *
   * @param home which Spark
   * @param master as Spark takes it: {@code local[2]}, or executors of their own
   * @param heap as the JVM takes it, for example {@code 2g}; executors have theirs by {@code
   *     spark.executor.memory}
   * @param conf Spark's configuration, in addition
   */
  record Settings(SparkHome home, String master, String heap, Map<String, String> conf) {}

  private final Stream stream;
  private final Process process;
  private final Writer input;
  private final BufferedReader output;
  private final Path log;
  private final ObjectMapper json = new ObjectMapper();

  private Driver(Stream stream, Process process, Path log) {
    this.stream = stream;
    this.process = process;
    this.log = log;
    input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static Driver start(Settings settings, Stream stream, Store store, Path directory)
      throws IOException, InterruptedException {
    Path conf = Files.createDirectories(directory.resolve("conf"));
    Path tmp = Files.createDirectories(directory.resolve("tmp"));
    Files.writeString(conf.resolve("log4j2.properties"), QUIET_LOG);
    writeSite(stream, store, tmp, conf.resolve("core-site.xml"));
    Path log = directory.resolve("log.txt");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SparkHome.jvmOptions());
    command.addAll(store.jvmOptions());
    // A heap that shrinks between steps has G1 mark it for each large allocation of Spark's, in
    // one application and not in the other, by chance: 10 to 20 % of a step's processor time.
    command.addAll(List.of("-Xms" + settings.heap(), "-Xmx" + settings.heap()));
    command.add("-Djava.io.tmpdir=" + tmp);
    String own = classPath(settings.home(), stream, conf);
    command.addAll(List.of("-cp", own + File.pathSeparator + settings.home().jars()));
    command.addAll(List.of("org.apache.spark.deploy.SparkSubmit", "--master", settings.master()));
    conf(command, "spark.executor.extraClassPath", own);
    conf(command, "spark.executor.extraJavaOptions", String.join(" ", store.jvmOptions()));
    // All executors are there before the first task is.
    conf(command, "spark.scheduler.minRegisteredResourcesRatio", "1.0");
    conf(command, "spark.ui.enabled", "false");
    conf(command, "spark.local.dir", tmp.toString());
    conf(command, "spark.sql.warehouse.dir", tmp.resolve("warehouse").toUri().toString());
    conf(command, "spark.sql.shuffle.partitions", "4");
    if (stream == Stream.PLUGIN) {
      conf(command, "spark.plugins", "io.s3e.spark.S3EPlugin");
    }
    settings.conf().forEach((key, value) -> conf(command, key, value));
    command.addAll(List.of("--class", Steps.class.getName(), SparkHome.jobs().toString()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectError(ProcessBuilder.Redirect.to(log.toFile()));
    builder.environment().putAll(settings.home().environment());
    return new Driver(stream, builder.start(), log);
  }

  private static void conf(List<String> command, String key, String value) {
    command.addAll(List.of("--conf", key + "=" + value));
  }

  private static void writeSite(Stream stream, Store store, Path tmp, Path file)
      throws IOException {
    Configuration conf = new Configuration(false);
    store.keys().forEach(conf::set);
    stream.keys().forEach(conf::set);
    conf.set("hadoop.tmp.dir", tmp.toString());
    // None for the plugin: it takes what is set for the user's wish to do without S3E.
    SparkHome.timed(isPlainS3E(stream) ? Stream.COUNTED_S3E : stream)
        .ifPresent(timed -> conf.set("fs.s3a.impl", timed));
    try (var out = Files.newOutputStream(file)) {
      conf.writeXml(out);
    }
  }

  private static boolean isPlainS3E(Stream stream) {
    return stream == Stream.S3E || stream == Stream.UNPREDICTED;
  }

  private static String classPath(SparkHome home, Stream stream, Path conf)
      throws IOException, InterruptedException {
    List<Path> entries = new ArrayList<>(List.of(conf));
    entries.addAll(SparkHome.jobsWithLibraries());
    entries.addAll(home.s3a());
    entries.add(stream == Stream.PLUGIN ? SparkHome.line() : Harness.BUNDLE);
    return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  Stream stream() {
    return stream;
  }

  /**
   * Does one step and waits for its end.
   *
   * @throws IOException when the application has ended, with the end of its log
   */
  StepResult run(String step) throws IOException {
    input.write(step + '\n');
    input.flush();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(Steps.RESULT)) {
        return json.readValue(line.substring(Steps.RESULT.length()), StepResult.class);
      }
    }
    List<String> lines = Files.readAllLines(log);
    throw new IOException(
        stream
            + " ended at the step '"
            + step
            + "': "
            + String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size())));
  }

  @Override
  public void close() throws IOException, InterruptedException {
    input.close();
    if (!process.waitFor(EXIT.toMillis(), TimeUnit.MILLISECONDS)) {
      process.destroyForcibly();
    }
  }
}
