// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.disk.CacheInspector;
import io.s3e.hadoop.conf.ConfigValues;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the cache is. */
final class CacheOptions {
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "A directory that the cache was given; may be repeated. Default: wherever one is put by"
              + " default: LOCAL_DIRS, SPARK_EXECUTOR_DIRS, SPARK_LOCAL_DIRS, spark.local.dir,"
              + " fs.s3a.buffer.dir, java.io.tmpdir, XDG_CACHE_HOME and ~/.cache.")
  private List<Path> directories = new ArrayList<>();

  /** An instance, and through what to look into it. */
  record Place(CacheInspector inspector, CacheInspector.Instance instance) {}

  /**
   * What was found.
   *
   * @param isWhole whether every directory that the user named could be looked into
   */
  record Found(List<Place> places, boolean isWhole) {}

  /**
   * The instances in all directories.
   *
   * @param names only those of these names or paths; all if there is none
   * @param err told of directories that cannot be looked into
   * @throws IllegalArgumentException if one of the names is of none
   */
  Found places(List<String> names, PrintStream err) throws IOException {
    List<Place> places = new ArrayList<>();
    IOException problem = null;
    for (Path directory : directories()) {
      CacheInspector inspector = new CacheInspector(directory);
      try {
        refuseUnlessThere(directory);
        inspector.instances().forEach(instance -> places.add(new Place(inspector, instance)));
      } catch (IOException e) {
        err.println("Left out: " + e.getMessage());
        problem = e;
      }
    }
    if (problem != null && places.isEmpty()) {
      throw problem;
    }
    for (String name : names) {
      if (places.stream().noneMatch(place -> isCalled(place, name))) {
        throw new IllegalArgumentException(
            "no instance '"
                + name
                + "' in "
                + directories()
                + "; s3e cache ls shows what there is");
      }
    }
    places.removeIf(
        place -> !names.isEmpty() && names.stream().noneMatch(name -> isCalled(place, name)));
    return new Found(places, problem == null || directories.isEmpty());
  }

  /**
   * Most of the default directories are not there; one that the user named, and is not, is wrong.
   */
  private void refuseUnlessThere(Path directory) throws FileSystemException {
    if (!directories.isEmpty()
        && !(Files.isDirectory(directory) && Files.isExecutable(directory))) {
      throw new FileSystemException(
          directory.toString(), null, "expected a directory that can be entered");
    }
  }

  /** Where it looks. */
  List<Path> directories() {
    return directories.isEmpty() ? defaults() : directories;
  }

  /** Wherever a file system may have put its cache if nobody told it where. */
  private static List<Path> defaults() {
    Configuration conf = new Configuration();
    Stream<@Nullable String> named =
        Stream.of(
            conf.get("fs.s3a.s3e.cache.dirs"),
            System.getenv("LOCAL_DIRS"),
            System.getenv()
                .getOrDefault("SPARK_EXECUTOR_DIRS", "")
                .replace(File.pathSeparator, ","),
            System.getenv("SPARK_LOCAL_DIRS"),
            conf.get("spark.local.dir"),
            conf.get("fs.s3a.buffer.dir"),
            System.getProperty("java.io.tmpdir"),
            System.getenv("XDG_CACHE_HOME"),
            System.getProperty("user.home") + "/.cache");
    return named
        .filter(Objects::nonNull)
        .flatMap(paths -> ConfigValues.paths(paths).stream())
        .distinct()
        .toList();
  }

  private static boolean isCalled(Place place, String name) {
    CacheInspector.Instance instance = place.instance();
    return name.equals(instance.name()) || name.equals(instance.path().toString());
  }
}
