package io.s3e.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.CacheInspector.Block;
import io.s3e.disk.CacheInspector.Instance;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what is cached. */
@Command(
    name = "ls",
    description = {
      "Shows the instances of the cache: whose they are, which processes use them, what they hold.",
      "With --objects, --blocks or an object: what is cached in them, from the files' own headers."
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

  @Option(names = "--blocks", description = "A line for each file: a disk block of 1 MiB.")
  private boolean blocks;

  /** An instance, as a document has it. */
  private record InstanceFacts(
      String path, String scope, List<Long> processes, long files, long bytes, long temporaries) {
    static InstanceFacts of(Instance instance) {
      return new InstanceFacts(
          instance.path().toString(),
          scopeOf(instance),
          instance.processes(),
          instance.files(),
          instance.bytes(),
          instance.temporaries());
    }
  }

  /**
   * The cached part of one version of an object, or one block of it.
   *
   * @param index which disk block; null for all
   * @param files how many disk blocks
   * @param chunks of 64 KiB, that are there
   * @param bytes on disk
   * @param used null if it was never read since it was written
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record CachedFacts(
      String instance,
      String store,
      String uri,
      @Nullable String etag,
      @Nullable String versionId,
      long size,
      @Nullable Long index,
      long files,
      long chunks,
      long bytes,
      boolean encrypted,
      String written,
      @Nullable String used) {

    /** The facts of some files of one version, summed up. */
    static CachedFacts of(Instance instance, List<Block> files, boolean single) {
      Block first = files.get(0);
      ObjectVersion version = first.id().version();
      long written = files.stream().mapToLong(Block::writtenMillis).min().orElse(0);
      long used =
          files.stream().filter(Block::wasUsed).mapToLong(Block::usedMillis).max().orElse(0);
      return new CachedFacts(
          instance.name(),
          first.id().store(),
          version.object().toString(),
          version.etag(),
          version.versionId(),
          version.size(),
          single ? first.id().index() : null,
          files.size(),
          files.stream().mapToLong(Block::chunks).sum(),
          files.stream().mapToLong(Block::bytes).sum(),
          first.encrypted(),
          Instant.ofEpochMilli(written).toString(),
          used == 0 ? null : Instant.ofEpochMilli(used).toString());
    }
  }

  @Override
  int work() throws IOException {
    List<CacheOptions.Place> places = cache().places(null, List.of());
    if (objects || blocks || uri != null) {
      List<CachedFacts> cached = new ArrayList<>();
      for (CacheOptions.Place place : places) {
        cached.addAll(cached(place));
      }
      printResult(
          Map.of(blocks ? "blocks" : "objects", cached),
          cached.isEmpty() ? "Nothing cached" : cachedTable(cached));
    } else {
      List<Instance> instances = places.stream().map(CacheOptions.Place::instance).toList();
      printResult(
          Map.of("instances", instances.stream().map(InstanceFacts::of).toList()),
          instances.isEmpty() ? nothingThere() : instanceTable(instances));
    }
    return 0;
  }

  private List<CachedFacts> cached(CacheOptions.Place place) throws IOException {
    Map<Object, List<Block>> files = new LinkedHashMap<>();
    place
        .inspector()
        .blocks(
            place.instance(),
            block -> {
              if (isWanted(block)) {
                Object row = blocks ? block : List.of(block.id().store(), block.id().version());
                files.computeIfAbsent(row, unused -> new ArrayList<>()).add(block);
              }
            });
    return files.values().stream()
        .map(of -> CachedFacts.of(place.instance(), of, blocks))
        .sorted(
            Comparator.comparing(CachedFacts::uri)
                .thenComparing(facts -> facts.index() == null ? 0 : facts.index()))
        .toList();
  }

  private boolean isWanted(Block block) {
    if (uri == null) {
      return true;
    }
    String name = block.id().version().object().toString();
    return uri.isFolder() ? name.startsWith(uri.toString()) : name.equals(uri.toString());
  }

  private static String instanceTable(List<Instance> instances) {
    Columns table =
        new Columns().name("scope").name("in use by").figure("files").figure("size").name("path");
    for (Instance instance : instances) {
      table.row(
          scopeOf(instance),
          instance.isInUse()
              ? instance.processes().stream().map(String::valueOf).collect(Collectors.joining(","))
              : "nobody",
          instance.files(),
          ByteSize.format(instance.bytes()),
          instance.path());
    }
    return table.text();
  }

  private String cachedTable(List<CachedFacts> cached) {
    Columns table = new Columns().name(blocks ? "object [block]" : "object").name("etag");
    if (!blocks) {
      table.figure("blocks");
    }
    table.figure("chunks").figure("on disk").figure("written").figure("used").name("instance");
    for (CachedFacts facts : cached) {
      List<Object> row = new ArrayList<>();
      row.add(facts.uri() + (facts.index() == null ? "" : " [" + facts.index() + "]"));
      row.add(abbreviated(String.valueOf(facts.etag())));
      if (!blocks) {
        row.add(facts.files());
      }
      row.add(facts.chunks());
      row.add(ByteSize.format(facts.bytes()));
      row.add(age(facts.written()));
      row.add(facts.used() == null ? "never" : age(facts.used()));
      row.add(facts.instance());
      table.row(row.toArray());
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
