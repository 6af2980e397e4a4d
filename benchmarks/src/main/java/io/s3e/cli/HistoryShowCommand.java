// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.hadoop.history.HistoryStore;
import io.s3e.hadoop.history.JobFacts;
import io.s3e.hadoop.history.TableFacts;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import picocli.CommandLine.Command;

/** Shows a job. */
@Command(
    name = "show",
    description = {
      "Shows whether tasks of a job that know its history are blocked less than those that do not,"
          + " with a confidence of 95 %%, and what is known of each table.",
      "Exit code 1 if a history of the job, or the directory of --dir, was left out."
    },
    footer = {
      "  s3e history show --dir s3a://bucket/histories nightly",
      "  s3e history show --json --conf core-site.xml --dir s3a://bucket/histories nightly"
    })
final class HistoryShowCommand extends HistoryToolCommand {
  @Override
  int work() throws IOException {
    HistoryStore.Found found = store().read(job());
    JobFacts facts = found.facts();
    printResult(facts, facts.runs().isEmpty() ? nothing() : text(facts));
    if (found.problem() == null) {
      return 0;
    }
    streams().err().println("Left out: " + found.problem());
    return 1;
  }

  private static String text(JobFacts facts) {
    long runs = facts.runs().stream().map(JobFacts.Run::id).distinct().count();
    StringBuilder text = new StringBuilder(facts.job()).append(", ").append(runs);
    text.append(runs == 1 ? " run: " : " runs: ").append(facts.comparison().text());
    if (!facts.off().isEmpty()) {
      text.append(System.lineSeparator()).append("Switched off: ").append(facts.off());
    }
    Columns table =
        new Columns().name("table").figure("footer").figure("files").figure("scans").name("learnt");
    for (TableFacts each : facts.tables()) {
      table.row(
          JobFacts.shown(each.place()),
          ByteSize.format(each.footerBytes()),
          Integer.toString(each.files().size()),
          Integer.toString(each.scans().size()),
          Instant.ofEpochMilli(each.millis()).truncatedTo(ChronoUnit.SECONDS).toString());
    }
    return facts.tables().isEmpty()
        ? text.toString()
        : text.append(System.lineSeparator()).append(table.text()).toString();
  }
}
