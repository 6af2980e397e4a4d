// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A picture of a page of Spark's, by Chromium without a screen. */
public final class Picture {
  /** The property that names Chromium where it is not at its usual place. */
  public static final String CHROMIUM = "s3e.test.chromium";

  private static final String USUAL = "/usr/bin/chromium";

  /** Counts of tasks that have ended come within 3 s. */
  private static final long QUIET_MILLIS = 4_000;

  /** Of the window, in pixels. */
  private static final int WIDTH = 1500;

  private static final int HEIGHT = 2200;

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int TIMEOUT_MILLIS = 10_000;

  private Picture() {}

  /** Where Chromium is, or would be. */
  public static File chromium() {
    return new File(System.getProperty(CHROMIUM, USUAL));
  }

  /**
   * Writes a PNG of the page, when the page has been the same for some seconds.
   *
   * @return the page's text, as the server sends it
   * @throws IOException if the page is not to be had within two minutes, or Chromium fails
   */
  public static String take(URI page, Path png) throws IOException, InterruptedException {
    String text = settled(page);
    Path profile = Files.createTempDirectory("s3e-chromium");
    Process browser =
        new ProcessBuilder(
                List.of(
                    chromium().toString(),
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--no-first-run",
                    "--hide-scrollbars",
                    "--virtual-time-budget=5000",
                    "--user-data-dir=" + profile,
                    "--window-size=" + WIDTH + "," + HEIGHT,
                    "--screenshot=" + png.toAbsolutePath(),
                    page.toString()))
            .redirectErrorStream(true)
            .redirectOutput(profile.resolve("output.txt").toFile())
            .start();
    if (!browser.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      browser.destroyForcibly();
    }
    if (browser.waitFor() != 0 || Files.size(png) == 0) {
      throw new IOException(
          "No picture of " + page + ": " + Files.readString(profile.resolve("output.txt")));
    }
    return text;
  }

  private static String settled(URI page) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    String before = "";
    while (true) {
      String now = get(page);
      boolean isSettled = now.equals(before) && !now.isEmpty();
      if (isSettled) {
        return now;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(page + " does not settle: " + now);
      }
      before = now;
      Thread.sleep(QUIET_MILLIS);
    }
  }

  /** The page; nothing while nobody answers with one. */
  private static String get(URI page) {
    try {
      HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      try (InputStream in = connection.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } catch (IOException e) {
      return "";
    }
  }
}
