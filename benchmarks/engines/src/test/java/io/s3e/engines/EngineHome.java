// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;

/**
 * An engine as its makers publish it: the jars of {@code homes/NAME/pom.xml}, without anything of
 * S3E. Maven resolves them when a test asks first, so that nobody downloads an engine whose tests
 * do not run; later runs of the build find the list in {@code target/homes}.
 */
public final class EngineHome {
  private static final long MINUTES_TO_RESOLVE = 15;

  private final String name;
  private final List<Path> jars;

  private EngineHome(String name, List<Path> jars) {
    this.name = name;
    this.jars = jars;
  }

  /** The home of that name, resolved. */
  public static synchronized EngineHome of(String name) throws IOException, InterruptedException {
    Path pom = Harness.MODULE.resolve("homes").resolve(name).resolve("pom.xml");
    Path list = Harness.MODULE.resolve("target").resolve("homes").resolve(name + ".classpath");
    if (!isCurrent(list, pom, Harness.MODULE.resolve("homes").resolve("pom.xml"))) {
      Files.createDirectories(list.getParent());
      resolve(pom, list);
    }
    List<Path> jars = read(list);
    if (!jars.stream().allMatch(Files::exists)) {
      resolve(pom, list);
      jars = read(list);
    }
    return new EngineHome(name, jars);
  }

  private static boolean isCurrent(Path list, Path... poms) throws IOException {
    if (!Files.exists(list)) {
      return false;
    }
    for (Path pom : poms) {
      if (Files.getLastModifiedTime(pom).compareTo(Files.getLastModifiedTime(list)) > 0) {
        return false;
      }
    }
    return true;
  }

  private static List<Path> read(Path list) throws IOException {
    return Arrays.stream(Files.readString(list).strip().split(File.pathSeparator))
        .map(Path::of)
        .toList();
  }

  /** A list that is there is whole: tests in two JVMs may ask for it at once. */
  private static void resolve(Path pom, Path list) throws IOException, InterruptedException {
    Path part = Files.createTempFile(list.getParent(), list.getFileName().toString(), ".part");
    resolveInto(part, pom, list);
    Files.move(part, list, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void resolveInto(Path part, Path pom, Path list)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(Harness.property("engines.maven"), "bin", "mvn").toString(),
                "-B",
                "-ntp",
                "-q",
                "-f",
                pom.toString(),
                "-Dmaven.repo.local=" + Harness.property("engines.maven.repository"),
                "dependency:build-classpath",
                "-Dmdep.outputFile=" + part));
    if (Harness.property("engines.maven.mode").equals("offline=true")) {
      command.add("-o");
    }
    Path log = list.resolveSibling(list.getFileName() + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    // Options that the outer Maven was started with are not meant for this one.
    builder.environment().remove("MAVEN_ARGS");
    Process maven = builder.start();
    boolean ended = maven.waitFor(MINUTES_TO_RESOLVE, TimeUnit.MINUTES);
    maven.destroyForcibly();
    if (!ended || maven.exitValue() != 0) {
      throw new IOException("Maven does not resolve " + pom + ": " + Files.readString(log));
    }
  }

  public String name() {
    return name;
  }

  /** The engine's jars in the order of its class path, with absolute names. */
  public List<Path> jars() {
    return jars;
  }

  /**
   * The jar of a user's job: {@code src/jobs/NAME}, compiled against this home. Not part of the
   * module's own sources, because homes do not agree on their versions.
   */
  public synchronized Path job(String job) throws IOException {
    Path sources = Harness.MODULE.resolve("src").resolve("jobs").resolve(job);
    Path classes = Harness.OUTPUT.resolve("jobs").resolve(job + "-on-" + name);
    Files.createDirectories(classes);
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--release",
                "17",
                "-proc:none",
                "-nowarn",
                "-cp",
                join(jars),
                "-d",
                classes.toString()));
    for (Path source : filesIn(sources)) {
      arguments.add(source.toString());
    }
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    if (code != 0) {
      throw new IOException("The job " + sources + " does not compile; see above");
    }
    Path jar = classes.resolveSibling(classes.getFileName() + ".jar");
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream zip = new JarOutputStream(out)) {
      for (Path file : filesIn(classes)) {
        zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
        Files.copy(file, zip);
        zip.closeEntry();
      }
    }
    return jar;
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  static String join(List<Path> paths) {
    return String.join(File.pathSeparator, paths.stream().map(Path::toString).toList());
  }
}
