// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;
import java.util.Map;
import picocli.CommandLine.Command;

/** Forgets a job. */
@Command(
    name = "clear",
    description = {
      "Forgets what a job has learnt, and that it was switched off. Runs that are under way go on,"
          + " and write what they learn."
    },
    footer = {"  s3e history clear --dir s3a://bucket/histories nightly"})
final class HistoryClearCommand extends HistoryToolCommand {
  @Override
  int work() throws IOException {
    boolean wasKnown = store().clear(job());
    printResult(
        Map.of("job", job(), "cleared", wasKnown), wasKnown ? "Forgotten: " + job() : nothing());
    return 0;
  }
}
