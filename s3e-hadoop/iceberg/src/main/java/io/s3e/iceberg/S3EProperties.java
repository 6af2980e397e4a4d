// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.S3EConfig;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.columnar.ColumnarMode;
import io.s3e.disk.DiskCacheConfig;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The catalog properties that are S3E's own, named as the keys of {@code fs.s3a.s3e.} are. What is
 * the JVM's (memory, cache on disk) is set by the engine's first tenant.
 */
final class S3EProperties {
  static final String PREFIX = "s3e.";
  static final String ENABLED = PREFIX + "enabled";

  /** Which client sends the requests: S3E's own where it can, only that, or Iceberg's. */
  static final String CLIENT = PREFIX + "client";

  static final String CLIENT_OF_ICEBERG = "s3fileio";
  private static final String CLIENT_OF_S3E = "crt";
  private static final Set<String> CLIENTS = Set.of("auto", CLIENT_OF_S3E, CLIENT_OF_ICEBERG);

  private static final Logger LOG = LoggerFactory.getLogger(S3EProperties.class);

  /** Names that were told to be no property's: a catalog makes a file IO for each table. */
  private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

  /** Two blocks. */
  private static final String LEAST_BUDGET = ((2 * S3EConfig.DEFAULTS.blockBytes()) >> 10) + "K";

  private static final Pattern SIZE = Pattern.compile("(\\d{1,12})([KMGT]?)");
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

  /** What the properties are collected in. */
  private record Target(
      S3EConfig.Builder config, DiskCacheConfig.Builder disk, AwsClientSettings.Builder client) {}

  /**
   * One property.
   *
   * @param accepted values, in words for a message
   */
  private record Property(String name, String accepted, BiConsumer<Target, String> set) {
    static <T> Property of(
        String name, String accepted, Function<String, T> parse, BiConsumer<Target, T> set) {
      return new Property(
          PREFIX + name, accepted, (target, text) -> set.accept(target, parse.apply(text)));
    }

    void set(Target target, String text) {
      try {
        set.accept(target, text.trim());
        // Checked one by one, so that the message names the property.
        S3EConfig unused = target.config.diskCache(target.disk.build()).build();
      } catch (RuntimeException e) {
        throw new IllegalArgumentException(
            name + " is \"" + text + "\"; accepted is " + accepted, e);
      }
    }
  }

  private static final List<Property> ALL =
      List.of(
          Property.of("enabled", "true or false", S3EProperties::flag, (to, on) -> {}),
          Property.of(
              "client", "auto, crt or s3fileio", S3EProperties::clientName, (to, name) -> {}),
          Property.of(
              "memory.budget",
              "bytes, with K, M or G, at least "
                  + LEAST_BUDGET
                  + ": 256M, or 0 to choose by the host",
              S3EProperties::size,
              (to, bytes) -> to.config.memoryBytes(bytes)),
          Property.of(
              "prefetch.enabled",
              "true or false",
              S3EProperties::flag,
              (to, on) -> to.config.prefetch(on)),
          Property.of(
              "prefetch.window.max",
              "bytes, with K, M or G, at least a block of "
                  + (S3EConfig.DEFAULTS.blockBytes() >> 10)
                  + "K, or 0 to leave it to the budget",
              S3EProperties::size,
              (to, bytes) -> to.config.maxWindowBytes(bytes)),
          Property.of(
              "columnar",
              "auto, observe or off",
              text -> ColumnarMode.valueOf(text.toUpperCase(Locale.ROOT)),
              (to, mode) -> to.config.columnar(mode)),
          Property.of(
              "read.timeout",
              "a time with ms, s, m or h, more than 0, to 8760h: 8m",
              S3EProperties::duration,
              (to, time) -> to.config.readTimeout(time)),
          Property.of(
              "throughput.target.gbps",
              "a number above 0, to 1000",
              Double::valueOf,
              (to, gbps) -> to.client.targetGbps(gbps)),
          Property.of("tls.ca.file", "a PEM file", Path::of, (to, file) -> to.client.caFile(file)),
          Property.of(
              "cache.dirs",
              "absolute paths of directories on local disks, separated by commas; without any there"
                  + " is no cache on disk",
              S3EProperties::directories,
              (to, directories) -> to.disk.mode(mode(directories)).directories(directories)),
          Property.of(
              "cache.capacity",
              "bytes in each directory, with K, M, G or T, or 0 to choose by what is free",
              S3EProperties::size,
              (to, bytes) -> to.disk.capacityBytes(bytes)));

  private S3EProperties() {}

  /**
   * @throws IllegalArgumentException naming property, value and what is accepted
   */
  static void check(Map<String, String> properties) {
    if (properties.getOrDefault(PREFIX + "enabled", "").trim().equalsIgnoreCase("false")) {
      // The way out of a bad value must not depend on it.
      return;
    }
    S3EConfig unused = config(properties);
    properties.keySet().stream()
        .filter(key -> key.startsWith(PREFIX))
        .filter(key -> ALL.stream().noneMatch(each -> each.name.equals(key)))
        .filter(TOLD::add)
        .forEach(
            key ->
                LOG.warn(
                    "{} is no property of S3E's, which are {}",
                    key,
                    ALL.stream().map(Property::name).toList()));
  }

  /** Whether Iceberg's client must not stand in for S3E's own. */
  static boolean requiresOwnClient(Map<String, String> properties) {
    return is(properties.getOrDefault(CLIENT, ""), CLIENT_OF_S3E);
  }

  /** Whether a value is this word, read as {@link #check} does: blanks and case do not count. */
  static boolean is(String value, String word) {
    return value.trim().equalsIgnoreCase(word);
  }

  private static String clientName(String text) {
    String name = text.toLowerCase(Locale.ROOT);
    if (!CLIENTS.contains(name)) {
      throw new IllegalArgumentException(text);
    }
    return name;
  }

  /** The tenant's configuration, without a store. */
  static S3EConfig config(Map<String, String> properties) {
    Target target = target(properties);
    return target.config.diskCache(target.disk.build()).build();
  }

  /** What is set of the client. */
  static AwsClientSettings.Builder client(Map<String, String> properties) {
    return target(properties).client;
  }

  private static Target target(Map<String, String> properties) {
    Target target =
        new Target(
            S3EConfig.DEFAULTS.toBuilder(),
            DiskCacheConfig.DEFAULTS.toBuilder(),
            AwsClientSettings.builder());
    for (Property each : ALL) {
      @Nullable String text = properties.get(each.name);
      if (text != null) {
        each.set(target, text);
      }
    }
    return target;
  }

  private static boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }

  private static long size(String text) {
    Matcher matcher = match(SIZE, text.toUpperCase(Locale.ROOT));
    String unit = matcher.group(2);
    int shift = unit.isEmpty() ? 0 : 10 * " KMGT".indexOf(unit);
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift);
  }

  private static Duration duration(String text) {
    Matcher matcher = match(DURATION, text.toLowerCase(Locale.ROOT));
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }

  private static Matcher match(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(text);
    }
    return matcher;
  }

  private static DiskCacheConfig.Mode mode(List<Path> directories) {
    return directories.isEmpty() ? DiskCacheConfig.Mode.MEMORY : DiskCacheConfig.Mode.DISK;
  }

  /** Each once, as {@code fs.s3a.s3e.cache.dirs} takes them. */
  private static List<Path> directories(String text) {
    List<Path> each =
        Arrays.stream(text.split(","))
            .map(String::trim)
            .filter(path -> !path.isEmpty())
            .map(path -> path.startsWith("file:") ? Path.of(URI.create(path)) : Path.of(path))
            .map(Path::normalize)
            .distinct()
            .toList();
    if (!each.stream().allMatch(Path::isAbsolute)) {
      throw new IllegalArgumentException(text);
    }
    return each;
  }
}
