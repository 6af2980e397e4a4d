package io.s3e.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.CacheInspector.CachedObject;
import io.s3e.disk.CacheInspector.Instance;
import io.s3e.disk.CacheInspector.UsedRegion;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what is cached. */
@Command(
    name = "ls",
    description = {
      "Shows the caches that processes share: their regions, how many of these living processes"
          + " write, what they take on disk. Private caches have files without names; the metrics"
          + " of their processes show them.",
      "With --objects or an object: what is cached in them. With --regions: each region."
    },
    footer = {
      "  s3e cache ls",
      "  s3e cache ls --objects --dir /mnt/nvme",
      "  s3e cache ls --json s3a://bucket/key | jq '.objects[].bytes'"
    })
final class CacheLsCommand extends CacheToolCommand {
  private static final int ETAG_SHOWN = 14;

  @Parameters(
      arity = "0..1",
      paramLabel = "s3a://BUCKET/KEY",
      converter = ObjectUri.Converter.class,
      description = "Only this object; with a slash at the end, or none, all below it.")
  private @Nullable ObjectUri uri;

  @Option(names = "--objects", description = "A line for each version of an object.")
  private boolean objects;

  @Option(names = "--regions", description = "A line for each region that holds anything.")
  private boolean regions;

  /** An instance, as a document has it. */
  private record InstanceFacts(
      String path,
      String scope,
      int regions,
      int used,
      int held,
      long bytes,
      long capacityBytes,
      boolean encrypted) {
    static InstanceFacts of(Instance instance) {
      return new InstanceFacts(
          instance.path().toString(),
          scopeOf(instance),
          instance.regions(),
          instance.used(),
          instance.held(),
          instance.bytes(),
          instance.capacityBytes(),
          instance.encrypted());
    }
  }

  /** A region, as a document has it. */
  private record RegionFacts(
      String path, boolean held, String kind, int chunks, long bytes, String begun) {
    static RegionFacts of(UsedRegion region) {
      return new RegionFacts(
          region.path().toString(),
          region.held(),
          region.kind(),
          region.chunks(),
          region.bytes(),
          Instant.ofEpochMilli(region.beganMillis()).toString());
    }
  }

  /**
   * The cached part of one version of an object.
   *
   * @param uri null if the name is not known
   * @param chunks of 64 KiB, that are there
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record CachedFacts(
      String instance,
      String store,
      @Nullable String uri,
      String hash,
      @Nullable String etag,
      @Nullable String versionId,
      long size,
      int chunks,
      long bytes,
      String written) {
    static CachedFacts of(Instance instance, CachedObject object) {
      ObjectVersion version = object.version();
      return new CachedFacts(
          instance.name(),
          object.store(),
          version == null ? null : version.object().toString(),
          object.hash(),
          version == null ? null : version.etag(),
          version == null ? null : version.versionId(),
          object.size(),
          object.chunks(),
          object.bytes(),
          Instant.ofEpochMilli(object.writtenMillis()).toString());
    }

    String name() {
      return uri == null ? "(" + hash + ")" : uri;
    }
  }

  @Override
  int work() throws IOException {
    List<CacheOptions.Place> places = cache().places(List.of());
    if (objects || uri != null) {
      List<CachedFacts> cached = new ArrayList<>();
      for (CacheOptions.Place place : places) {
        cached.addAll(cached(place));
      }
      printResult(
          Map.of("objects", cached), cached.isEmpty() ? "Nothing cached" : cachedTable(cached));
    } else if (regions) {
      List<RegionFacts> used = new ArrayList<>();
      for (CacheOptions.Place place : places) {
        place
            .inspector()
            .regions(place.instance())
            .forEach(region -> used.add(RegionFacts.of(region)));
      }
      printResult(Map.of("regions", used), used.isEmpty() ? "Nothing cached" : regionTable(used));
    } else {
      List<Instance> instances = places.stream().map(CacheOptions.Place::instance).toList();
      printResult(
          Map.of("instances", instances.stream().map(InstanceFacts::of).toList()),
          instances.isEmpty() ? nothingThere() : instanceTable(instances));
    }
    return 0;
  }

  private List<CachedFacts> cached(CacheOptions.Place place) throws IOException {
    return place.inspector().objects(place.instance()).stream()
        .map(object -> CachedFacts.of(place.instance(), object))
        .filter(this::isWanted)
        .sorted(Comparator.comparing(CachedFacts::name))
        .toList();
  }

  private boolean isWanted(CachedFacts cached) {
    if (uri == null) {
      return true;
    }
    String name = cached.name();
    return uri.isFolder() ? name.startsWith(uri.toString()) : name.equals(uri.toString());
  }

  private static String instanceTable(List<Instance> instances) {
    Columns table =
        new Columns()
            .name("scope")
            .figure("regions")
            .figure("used")
            .figure("being written")
            .figure("size")
            .figure("of")
            .name("path");
    for (Instance instance : instances) {
      table.row(
          scopeOf(instance),
          instance.regions(),
          instance.used(),
          instance.held(),
          ByteSize.format(instance.bytes()),
          ByteSize.format(instance.capacityBytes()),
          instance.path());
    }
    return table.text();
  }

  private static String regionTable(List<RegionFacts> regions) {
    Columns table =
        new Columns()
            .name("kind")
            .figure("chunks")
            .figure("size")
            .figure("begun")
            .name("being written")
            .name("path");
    for (RegionFacts region : regions) {
      table.row(
          region.kind(),
          region.chunks(),
          ByteSize.format(region.bytes()),
          age(region.begun()),
          region.held() ? "yes" : "no",
          region.path());
    }
    return table.text();
  }

  private static String cachedTable(List<CachedFacts> cached) {
    Columns table =
        new Columns()
            .name("object")
            .name("etag")
            .figure("chunks")
            .figure("bytes")
            .figure("of")
            .figure("written")
            .name("instance");
    for (CachedFacts facts : cached) {
      table.row(
          facts.name(),
          abbreviated(String.valueOf(facts.etag())),
          facts.chunks(),
          ByteSize.format(facts.bytes()),
          ByteSize.format(facts.size()),
          age(facts.written()),
          facts.instance());
    }
    return table.text();
  }

  private static String scopeOf(Instance instance) {
    return instance.kind().name().toLowerCase(Locale.ROOT);
  }

  private static String abbreviated(String etag) {
    String bare = etag.replace("\"", "");
    return bare.length() <= ETAG_SHOWN ? bare : bare.substring(0, ETAG_SHOWN) + "…";
  }

  /** How long ago, in the one unit that says enough. */
  private static String age(String instant) {
    Duration age = Duration.between(Instant.parse(instant), Instant.now());
    if (age.toDays() > 0) {
      return age.toDays() + " d ago";
    } else if (age.toHours() > 0) {
      return age.toHours() + " h ago";
    } else {
      return age.toMinutes() > 0
          ? age.toMinutes() + " min ago"
          : Math.max(0, age.toSeconds()) + " s ago";
    }
  }
}
