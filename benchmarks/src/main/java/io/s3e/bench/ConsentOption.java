// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import picocli.CommandLine.Option;

/** Asks whether something that costs money may be done. Filled in by picocli. */
final class ConsentOption {

  @Option(
      names = "--yes",
      description = "Do what costs money, in the preset aws, without asking first.")
  private boolean given;

  /** Tells what would be done, and waits for an answer; an end of the input is a no. */
  boolean ask(String what, PrintWriter out) throws IOException {
    out.println(what);
    if (given) {
      return true;
    }
    out.print("Go on? [y/N] ");
    out.flush();
    // Closing it would close standard input for whoever comes next.
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
    String answer = in.readLine();
    boolean isYes = answer != null && answer.strip().matches("(?i)y(es)?");
    if (!isYes) {
      out.println("Nothing was written. Answer y, or give --yes.");
    }
    return isYes;
  }
}
