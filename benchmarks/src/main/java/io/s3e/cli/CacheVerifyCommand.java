package io.s3e.cli;

import io.s3e.bench.Progress;
import io.s3e.disk.CacheInspector.Check;
import io.s3e.disk.CacheInspector.Finding;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Reads what is cached and checks every byte. */
@Command(
    name = "verify",
    description = {
      "Reads all regions of the cache and checks every record and every byte of every chunk.",
      "Exit code 1 if a chunk is corrupt or cannot be read. Readers find that themselves, chunk by"
          + " chunk, and read from S3 instead."
    },
    footer = {
      "  s3e cache verify",
      "  s3e cache verify --clear --dir /mnt/nvme",
      "  s3e cache verify --key-file secret app-0123456789abcdef0123"
    })
final class CacheVerifyCommand extends CacheToolCommand {
  @Parameters(
      arity = "0..*",
      paramLabel = "INSTANCE",
      description = "Only these: names or paths as ls shows them.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--clear",
      description = "Empty regions with anything corrupt in them, unless a living process writes.")
  private boolean clear;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "The key of an encrypted cache: 32 bytes, as they are, in Base64 or hexadecimal. Without"
              + " it chunks are not checked.")
  private @Nullable Path keyFile;

  /** How many chunks, or whole regions that were not checked, and bytes came to one finding. */
  private record Count(long count, long bytes) {}

  /** A chunk or a record that is not good. */
  private record Fault(String path, String finding, String reason, boolean cleared) {}

  @Override
  int work() throws IOException {
    List<CacheOptions.Place> places =
        cache().places(keyFile == null ? null : KeyFile.read(keyFile), names);
    Map<Finding, Count> counts = new EnumMap<>(Finding.class);
    for (Finding finding : Finding.values()) {
      counts.put(finding, new Count(0, 0));
    }
    List<Fault> faults = new ArrayList<>();
    long total = places.stream().mapToLong(place -> place.instance().bytes()).sum();
    long[] done = new long[1];
    try (Progress.Bar bar = progress().bytes("verify", total)) {
      for (CacheOptions.Place place : places) {
        place
            .inspector()
            .verify(
                place.instance(),
                clear,
                check -> {
                  done[0] += check.bytes();
                  bar.at(done[0]);
                  note(check, counts, faults);
                });
      }
    }
    boolean failed = !faults.isEmpty();
    printResult(
        Map.of("findings", counts, "faults", faults),
        places.isEmpty() ? nothingThere() : text(counts, faults));
    return failed ? 1 : 0;
  }

  private static void note(Check check, Map<Finding, Count> counts, List<Fault> faults) {
    counts.merge(
        check.finding(),
        new Count(1, check.bytes()),
        (one, other) -> new Count(one.count() + other.count(), one.bytes() + other.bytes()));
    if (check.finding() == Finding.CORRUPT || check.finding() == Finding.UNREADABLE) {
      faults.add(
          new Fault(
              check.path().toString(), check.finding().name(), check.reason(), check.cleared()));
    }
  }

  private static String text(Map<Finding, Count> counts, List<Fault> faults) {
    StringBuilder text = new StringBuilder();
    for (Fault fault : faults) {
      text.append(fault.path()).append(": ").append(fault.reason());
      text.append(fault.cleared() ? "; its region was cleared" : "").append(System.lineSeparator());
    }
    Columns table = new Columns().name("").figure("chunks").figure("size");
    counts.forEach(
        (finding, count) ->
            table.row(label(finding), count.count(), ByteSize.format(count.bytes())));
    return text.append(table.text()).toString();
  }

  private static String label(Finding finding) {
    return switch (finding) {
      case GOOD -> "good";
      case CORRUPT -> "corrupt";
      case UNREADABLE -> "cannot be read";
      case UNCHECKED -> "encrypted regions, not checked";
    };
  }
}
