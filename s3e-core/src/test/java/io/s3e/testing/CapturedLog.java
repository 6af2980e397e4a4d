// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The log lines of slf4j-simple while this is open: it logs to the System.err of that time. */
public final class CapturedLog implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public CapturedLog() {
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
  }

  public List<String> lines(String containing) {
    return bytes
        .toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains(containing))
        .toList();
  }

  /** As {@link #lines}, once there are any: for those that other threads log. */
  public List<String> await(String containing) throws InterruptedException {
    Eventually.awaitTrue("a line has " + containing, () -> !lines(containing).isEmpty());
    return lines(containing);
  }

  @Override
  public void close() {
    System.setErr(before);
    before.print(bytes.toString(StandardCharsets.UTF_8));
  }
}
