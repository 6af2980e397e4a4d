// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.helpers.MessageFormatter;

/**
 * Lines that are the same for each file system with these settings: a JVM logs them once, and at
 * DEBUG each time after that. Any thread.
 */
public final class ToldOnce {
  /** What comes when so many were told is told each time. */
  private static final int MOST = 1_000;

  private static final Set<String> TEXTS = ConcurrentHashMap.newKeySet();

  private ToldOnce() {}

  /**
   * @param values for the places of the format, no throwable
   */
  public static void warn(Logger log, String format, Object... values) {
    if (isNew(MessageFormatter.arrayFormat(format, values).getMessage())) {
      log.warn(format, values);
    } else {
      log.debug(format, values);
    }
  }

  /** As {@link #warn}. */
  public static void info(Logger log, String format, Object... values) {
    if (isNew(MessageFormatter.arrayFormat(format, values).getMessage())) {
      log.info(format, values);
    } else {
      log.debug(format, values);
    }
  }

  /** Whether the text has not been asked for before. */
  static boolean isNew(String text) {
    return TEXTS.size() < MOST ? TEXTS.add(text) : !TEXTS.contains(text);
  }

  /** All that was told; for tests. */
  static void forget() {
    TEXTS.clear();
  }
}
