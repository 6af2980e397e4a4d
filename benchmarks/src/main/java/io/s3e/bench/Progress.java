// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.io.PrintStream;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Progress bars on the terminal, or nothing. Bars go to standard error, so that standard output
 * holds the result alone.
 */
public final class Progress {

  /** Often enough to look alive; rare when a log takes the lines. */
  private static final int TERMINAL_INTERVAL_MILLIS = 250;

  private static final int LOG_INTERVAL_MILLIS = 5_000;
  private static final int FALLBACK_WIDTH = 110;

  /** The launcher can ask whether standard error is a terminal; this JVM cannot. */
  private static final String TERMINAL_PROPERTY = "s3e.terminal";

  private final PrintStream terminal;
  private final boolean shown;
  private final boolean interactive;

  /**
   * @param terminal where bars go
   * @param shown false for no bars
   * @param interactive whether somebody watches; else the bars are lines of a log
   */
  public Progress(PrintStream terminal, boolean shown, boolean interactive) {
    this.terminal = terminal;
    this.shown = shown;
    this.interactive = interactive;
  }

  /** Whether standard error is a terminal. */
  public static boolean isTerminal() {
    String told = System.getProperty(TERMINAL_PROPERTY);
    return told == null ? System.console() != null : Boolean.parseBoolean(told);
  }

  /** A bar that is told where the work stands. Closing it leaves its last state on the screen. */
  public interface Bar extends AutoCloseable {
    void at(long done);

    void note(String text);

    @Override
    void close();
  }

  /** A bar over bytes, in MiB with the rate; of -1 bytes if nobody knows how many. */
  public Bar bytes(String task, long total) {
    return shown ? bar(task, total, "MiB", 1L << 20, true) : new SilentBar();
  }

  /** A bar over countable things. */
  Bar count(String task, long total, String unit) {
    return shown ? bar(task, total, " " + unit, 1, false) : new SilentBar();
  }

  private Bar bar(String task, long total, String unit, long unitSize, boolean speed) {
    ProgressBarConsumer consumer =
        interactive
            ? new ConsoleProgressBarConsumer(terminal)
            : new DelegatingProgressBarConsumer(terminal::println, FALLBACK_WIDTH);
    ProgressBarBuilder builder =
        new ProgressBarBuilder()
            .setTaskName(task)
            .setInitialMax(total)
            .setUnit(unit, unitSize)
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(interactive ? TERMINAL_INTERVAL_MILLIS : LOG_INTERVAL_MILLIS)
            .setConsumer(consumer);
    ProgressBar bar = (speed ? builder.showSpeed() : builder).build();
    return new ShownBar(bar);
  }

  private record ShownBar(ProgressBar bar) implements Bar {
    @Override
    public void at(long done) {
      bar.stepTo(done);
    }

    @Override
    public void note(String text) {
      bar.setExtraMessage(text);
    }

    @Override
    public void close() {
      bar.close();
    }
  }

  /** Takes every report and shows none. */
  private record SilentBar() implements Bar {
    @Override
    public void at(long done) {}

    @Override
    public void note(String text) {}

    @Override
    public void close() {}
  }
}
