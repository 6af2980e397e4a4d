package io.s3e.cli;

import io.s3e.disk.CacheInspector;
import io.s3e.disk.CacheKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the cache is. */
final class CacheOptions {
  /** What S3A buffers in, where S3E's cache is by default. */
  private static final String BUFFER_DIRECTORIES = "fs.s3a.buffer.dir";

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "A directory that the cache was given; may be repeated. Default: S3A's own,"
              + " fs.s3a.buffer.dir (below $LOCAL_DIRS in a YARN container).")
  private List<Path> directories = new ArrayList<>();

  /** An instance, and through what to look into it. */
  record Place(CacheInspector inspector, CacheInspector.Instance instance) {}

  /**
   * The instances in all directories.
   *
   * @param key what encrypted files are checked with, if anything
   * @param names only those of these names or paths; all if there is none
   * @throws IllegalArgumentException if one of the names is of none
   */
  List<Place> places(@Nullable CacheKey key, List<String> names) throws IOException {
    List<Place> places = new ArrayList<>();
    for (Path directory : directories()) {
      CacheInspector inspector = new CacheInspector(directory, key);
      inspector.instances().forEach(instance -> places.add(new Place(inspector, instance)));
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
    return places;
  }

  /** Where it looks. */
  List<Path> directories() {
    if (!directories.isEmpty()) {
      return directories;
    }
    return Arrays.stream(new Configuration().getTrimmedStrings(BUFFER_DIRECTORIES))
        .map(name -> Path.of(name.startsWith("file:") ? name.substring("file:".length()) : name))
        .toList();
  }

  private static boolean isCalled(Place place, String name) {
    CacheInspector.Instance instance = place.instance();
    return name.equals(instance.name()) || name.equals(instance.path().toString());
  }
}
