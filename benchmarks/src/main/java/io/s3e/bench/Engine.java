package io.s3e.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One way of reading {@code s3a://}: a name and what a user writes into core-site.xml to get it.
 *
 * @param name how tables and options call it
 * @param settings Hadoop configuration entries
 */
public record Engine(String name, Map<String, String> settings) {

  private static final String IMPLEMENTATION = "fs.s3a.impl";
  private static final String STREAM_TYPE = "fs.s3a.input.stream.type";

  /** S3E, and the streams of S3A as a user gets each by the one key that selects it. */
  private static final List<Engine> KNOWN =
      List.of(
          new Engine("s3e", Map.of(IMPLEMENTATION, "io.s3e.hadoop.S3EFileSystem")),
          new Engine("classic", Map.of(STREAM_TYPE, "classic")),
          new Engine("prefetch", Map.of(STREAM_TYPE, "prefetch")),
          new Engine("analytics", Map.of(STREAM_TYPE, "analytics")));

  public Engine {
    settings = Map.copyOf(settings);
  }

  /** Names of the engines that need no settings of their own. */
  public static List<String> knownNames() {
    return KNOWN.stream().map(Engine::name).toList();
  }

  /**
   * Makes an engine of a name and the settings that the user gave for it; they come on top of those
   * of the known engine of that name, or of the longest known name that it begins with and a dash
   * ({@code classic-tuned}).
   *
   * @throws IllegalArgumentException when the name is not known and nothing was set for it
   */
  public static Engine of(String name, Map<String, String> extra) {
    Map<String, String> settings = new LinkedHashMap<>();
    KNOWN.stream()
        .filter(known -> name.equals(known.name()) || name.startsWith(known.name() + '-'))
        .forEach(known -> settings.putAll(known.settings()));
    settings.putAll(extra);
    if (settings.isEmpty()) {
      throw new IllegalArgumentException(
          "No engine is named " + name + "; there are " + String.join(", ", knownNames()));
    }
    return new Engine(name, settings);
  }

  /** Whether it is a stream of S3A's own, with which the others are compared. */
  public boolean isS3a() {
    return !settings.containsKey(IMPLEMENTATION);
  }
}
