// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import io.s3e.engines.inside.CountedS3A;
import io.s3e.engines.inside.LastWord;
import io.s3e.testing.ForkedJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.hadoop.conf.Configuration;

/**
 * An engine's JVM, started as a user would: a directory with core-site.xml, the engine's jars and,
 * for S3E, the bundle jar beside them. Everything of a run lies in one directory: {@code conf},
 * {@code tmp}, {@code counts} and {@code output.txt}.
 */
public final class EngineProcess {
  /** Options of JVMs that live for seconds, as containers of small jobs do. */
  public static final String SHORT_LIVED =
      String.join(
          " ",
          "-Xmx300m",
          String.join(" ", ForkedJvm.SHORT_LIVED),
          String.join(" ", ForkedJvm.UNVERIFIED));

  /** Names in {@code conf}, and the resource that each is a copy of. */
  private static final Map<String, String> CONF_FILES =
      Map.of(
          "log4j.properties", "log4j.properties",
          "log4j2.properties", "log4j2.properties",
          "hive-log4j2.properties", "log4j2.properties");

  private final EngineHome home;
  private final String main;
  private final Stream stream;
  private final Store store;
  private final Path directory;
  private final Map<String, String> site = new LinkedHashMap<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private final List<String> options = new ArrayList<>();
  private final List<Path> jars = new ArrayList<>();
  private Duration deadline = Duration.ofMinutes(5);

  private EngineProcess(EngineHome home, String main, Stream stream, Store store, Path directory) {
    this.home = home;
    this.main = main;
    this.stream = stream;
    this.store = store;
    this.directory = directory;
  }

  /**
   * @param main the engine's main class
   * @param job names the directory of the run within the directory of the home
   */
  public static EngineProcess of(
      EngineHome home, String main, Stream stream, Store store, String job) {
    Path directory =
        Harness.OUTPUT
            .resolve("runs")
            .resolve(home.name())
            .resolve(job.replaceAll("[^A-Za-z0-9.-]+", "-"))
            .resolve(stream.name());
    return new EngineProcess(home, main, stream, store, directory);
  }

  /**
   * One more key, in the file where a user writes it: Hadoop reads the defaults of MapReduce and of
   * YARN after core-site.xml, and they replace what is written there.
   */
  public EngineProcess set(String key, String value) {
    site.put(key, value);
    return this;
  }

  /** Options of the JVM. */
  public EngineProcess options(String... more) {
    options.addAll(List.of(more));
    return this;
  }

  public EngineProcess environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** A user's jar, in front of the engine's. */
  public EngineProcess jar(Path jar) {
    jars.add(jar);
    return this;
  }

  /** How long it may take until its last word. */
  public EngineProcess deadline(Duration most) {
    deadline = most;
    return this;
  }

  /** Where everything of the run lies. */
  public Path directory() {
    return directory;
  }

  /** The class path of the run, in order; absolute. */
  public List<Path> classPath() {
    List<Path> classPath = new ArrayList<>();
    classPath.add(directory.resolve("conf"));
    classPath.addAll(jars);
    if (stream.isByS3E()) {
      if (!Files.exists(Harness.BUNDLE)) {
        throw new IllegalStateException(Harness.BUNDLE + " is not there: build s3e-hadoop first");
      }
      classPath.add(Harness.BUNDLE);
    }
    classPath.addAll(home.jars());
    classPath.add(inside());
    return classPath;
  }

  /** The classes of this module that run in the engine's JVM. */
  private static Path inside() {
    try {
      return Path.of(LastWord.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs it to its end. */
  public Outcome run(String... arguments) throws IOException, InterruptedException {
    prepare();
    List<String> words = new ArrayList<>(List.of(main));
    words.addAll(List.of(arguments));
    ForkedJvm.Launch launch =
        ForkedJvm.of(LastWord.class.getName())
            .unverified()
            .options("-Xmx512m", "-Djava.io.tmpdir=" + directory.resolve("tmp"))
            .options(options.toArray(String[]::new))
            .classPath(classPath().stream().map(Path::toString).toList())
            .in(directory);
    environment.forEach(launch::environment);
    int mark = store.mark();
    long from = System.nanoTime();
    List<String> output = new ArrayList<>();
    try (ForkedJvm jvm = launch.start(words.toArray(String[]::new))) {
      jvm.await(LastWord.ENDING, output, deadline);
      long lastWord = System.nanoTime();
      long end = jvm.awaitEnd();
      output.addAll(jvm.rest());
      return new Outcome(
          jvm.exitCode(),
          Duration.ofNanos(end - from),
          Duration.ofNanos(Math.max(0, end - lastWord)),
          List.copyOf(output),
          store.since(mark),
          given(),
          "",
          OptionalLong.empty());
    } finally {
      Files.write(directory.resolve("output.txt"), output);
    }
  }

  private void prepare() throws IOException {
    delete(directory);
    for (String each : List.of("conf", "tmp", "counts")) {
      Files.createDirectories(directory.resolve(each));
    }
    for (Map.Entry<String, String> file : CONF_FILES.entrySet()) {
      try (var in = EngineProcess.class.getResourceAsStream("/conf/" + file.getValue())) {
        Files.copy(in, directory.resolve("conf").resolve(file.getKey()));
      }
    }
    Map<String, Configuration> files = new LinkedHashMap<>();
    Configuration core = new Configuration(false);
    files.put("core-site.xml", core);
    store.keys().forEach(core::set);
    core.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    core.set(CountedS3A.DIRECTORY, directory.resolve("counts").toString());
    stream.keys().forEach(core::set);
    site.forEach(
        (key, value) ->
            files.computeIfAbsent(siteOf(key), name -> new Configuration(false)).set(key, value));
    for (Map.Entry<String, Configuration> file : files.entrySet()) {
      try (var out = Files.newOutputStream(directory.resolve("conf").resolve(file.getKey()))) {
        file.getValue().writeXml(out);
      }
    }
  }

  private static String siteOf(String key) {
    if (key.startsWith("mapred") || key.startsWith("yarn.app.mapreduce.")) {
      return "mapred-site.xml";
    }
    return key.startsWith("yarn.") ? "yarn-site.xml" : "core-site.xml";
  }

  private OptionalLong given() throws IOException {
    if (stream == Stream.S3E || stream == Stream.PLUGIN) {
      return OptionalLong.empty();
    }
    long sum = 0;
    try (var counts = Files.list(directory.resolve("counts"))) {
      for (Path count : counts.toList()) {
        sum += Long.parseLong(Files.readString(count));
      }
    }
    return OptionalLong.of(sum);
  }

  private static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
