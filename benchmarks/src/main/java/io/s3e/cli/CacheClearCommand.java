// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.s3e.disk.CacheInspector.Instance;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Deletes what is cached. */
@Command(
    name = "clear",
    description = {
      "Deletes what the cache holds, after asking. Living processes go on: they read from S3, and"
          + " cache anew.",
      "Exit code 1 if the answer was no, or a directory of --dir was left out."
    },
    footer = {
      "  s3e cache clear",
      "  s3e cache clear --yes --dir /mnt/nvme",
      "  s3e cache clear host"
    })
final class CacheClearCommand extends CacheToolCommand {
  @Parameters(
      arity = "0..*",
      paramLabel = "INSTANCE",
      description = "Only these: names or paths as ls shows them. Default: all.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  private boolean yes;

  /** The action, and the bytes that it freed: the lengths of the files. */
  private record Cleared(List<String> cleared, long bytes) {}

  @Override
  int work() throws IOException {
    CacheOptions.Found found = cache().places(names, streams().err());
    List<CacheOptions.Place> places = found.places();
    if (!places.isEmpty() && !yes && !confirmed(places)) {
      streams().err().println("Nothing deleted.");
      return 1;
    }
    List<String> cleared = new ArrayList<>();
    long bytes = 0;
    boolean isLeft = !found.isWhole();
    for (CacheOptions.Place place : places) {
      Instance instance = place.instance();
      try {
        place.inspector().clear(instance);
        cleared.add(instance.path().toString());
        bytes += instance.bytes();
      } catch (IOException e) {
        streams().err().println("Not cleared: " + FailureLine.of(e));
        isLeft = true;
      }
    }
    printResult(
        new Cleared(cleared, bytes), places.isEmpty() ? nothingThere() : text(cleared, bytes));
    return isLeft ? 1 : 0;
  }

  private boolean confirmed(List<CacheOptions.Place> chosen) throws IOException {
    streams().err().println(table(chosen.stream().map(CacheOptions.Place::instance).toList()));
    streams().err().print("Delete all of this? [y/N] ");
    streams().err().flush();
    String answer = new BufferedReader(new InputStreamReader(streams().in(), UTF_8)).readLine();
    return answer != null && List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT));
  }

  private static String text(List<String> cleared, long bytes) {
    return "Cleared %d %s: %s"
        .formatted(
            cleared.size(), cleared.size() == 1 ? "instance" : "instances", ByteSize.format(bytes));
  }
}
