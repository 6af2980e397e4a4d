// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.engines.EngineHome;
import io.s3e.engines.Harness;
import io.s3e.engines.Stream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Spark as a user has it after unpacking: a directory with {@code RELEASE} and {@code jars}, which
 * executors of their own are started from.
 */
public final class SparkHome {

  /** What Spark's launcher adds on Java 17, for the parts of the JDK that Spark reaches into. */
  private static final List<String> JVM_OPTIONS =
      List.of(
          "-XX:+IgnoreUnrecognizedVMOptions",
          "--add-modules=jdk.incubator.vector",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.net=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
          "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
          "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
          "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
          "-Djdk.reflect.useDirectMethodHandle=false",
          "-Dio.netty.tryReflectionSetAccessible=true");

  private final EngineHome engine;
  private final Path directory;
  private final String scala;

  private SparkHome(EngineHome engine, Path directory, String scala) {
    this.engine = engine;
    this.directory = directory;
    this.scala = scala;
  }

  /** The home of that name, with its jars linked into one directory. */
  public static synchronized SparkHome of(String name) throws IOException, InterruptedException {
    return in(Harness.OUTPUT.resolve("spark-homes").resolve(name), name);
  }

  /** As above, in a directory that nothing else uses. */
  static synchronized SparkHome in(Path directory, String name)
      throws IOException, InterruptedException {
    EngineHome engine = EngineHome.of(name);
    Path jars = Files.createDirectories(directory.resolve("jars"));
    Files.writeString(directory.resolve("RELEASE"), name + System.lineSeparator());
    try (var old = Files.list(jars)) {
      for (Path link : old.toList()) {
        Files.delete(link);
      }
    }
    for (Path jar : engine.jars()) {
      Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar);
    }
    return new SparkHome(engine, directory, inNameOfJar(engine, "spark-core_", "-"));
  }

  /** What follows {@code prefix} in the name of a jar of the home, up to {@code end}. */
  private static String inNameOfJar(EngineHome engine, String prefix, String end) {
    return engine.jars().stream()
        .map(jar -> jar.getFileName().toString())
        .filter(jar -> jar.startsWith(prefix))
        .map(jar -> jar.substring(prefix.length(), jar.indexOf(end, prefix.length())))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(engine.name() + " is no home of Spark"));
  }

  EngineHome engine() {
    return engine;
  }

  public String name() {
    return engine.name();
  }

  public Path directory() {
    return directory;
  }

  /** Its jars as one entry of a class path. */
  String jars() {
    return directory.resolve("jars").resolve("*").toString();
  }

  static List<String> jvmOptions() {
    return JVM_OPTIONS;
  }

  /** What {@code bin/spark-submit} sets, and that nothing listens beyond this machine. */
  Map<String, String> environment() {
    return Map.of(
        "SPARK_HOME",
        directory.toString(),
        "SPARK_SCALA_VERSION",
        scala,
        "SPARK_LOCAL_IP",
        "127.0.0.1");
  }

  /** The file system of the jobs that counts what tasks read by that stream, where there is one. */
  static Optional<String> timed(Stream stream) {
    String timed = "io.s3e.engines.spark.job.Timed";
    return switch (stream) {
      case CLASSIC, ANALYTICS -> Optional.of(timed + "S3AFileSystem");
      case COUNTED_S3E -> Optional.of(timed + "S3EFileSystem");
      // As a user sets it.
      case S3E, UNPREDICTED, PLUGIN -> Optional.empty();
    };
  }

  /** The jar of S3E for this line of Spark, which holds the plugin. */
  static Path line() {
    String name = "s3e-spark-4.1_2.13-" + Harness.property("engines.version") + ".jar";
    return existing(Path.of(Harness.property("engines.spark.line"), name));
  }

  /** The jar of the programs that tests submit. */
  static Path jobs() {
    return existing(Path.of(Harness.property("engines.spark.jobs"), "s3e-engines-spark-jobs.jar"));
  }

  /** The jar of the programs and what it needs beside it. */
  static List<Path> jobsWithLibraries() throws IOException {
    List<Path> jars = new ArrayList<>(List.of(jobs()));
    Path libraries = Path.of(Harness.property("engines.spark.jobs"), "lib");
    try (var files = Files.list(libraries)) {
      files.sorted().forEach(jars::add);
    }
    return jars;
  }

  /**
   * hadoop-aws and the SDK's modules of the home's Hadoop, which Spark does not ship; none where
   * the home has them.
   */
  List<Path> s3a() throws IOException, InterruptedException {
    if (engine.jars().stream()
        .anyMatch(jar -> jar.getFileName().toString().startsWith("hadoop-aws-"))) {
      return List.of();
    }
    String hadoop = inNameOfJar(engine, "hadoop-client-api-", ".jar");
    return EngineHome.of("spark-s3a-" + hadoop).jars();
  }

  /** Iceberg, Delta Lake and the binding of S3A's committers. */
  static List<Path> tables() throws IOException, InterruptedException {
    return EngineHome.of("spark-4.1-tables").jars();
  }

  /** The binding of S3A's committers for Spark 3.5. */
  static List<Path> committers() throws IOException, InterruptedException {
    return EngineHome.of("spark-3.5-committers").jars();
  }

  /** What Iceberg's own client needs beside {@link #s3a}. */
  static List<Path> icebergAws() throws IOException, InterruptedException {
    return EngineHome.of("spark-4.1-iceberg-aws").jars();
  }

  private static Path existing(Path jar) {
    if (!Files.exists(jar)) {
      throw new IllegalStateException(jar + " is not there: build it first");
    }
    return jar;
  }
}
