// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** What S3E logs in this JVM, from INFO on, until it is closed. */
final class LogLines extends AbstractAppender implements AutoCloseable {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Map<String, String> loggers = new ConcurrentHashMap<>();
  private final Logger logger = (Logger) LogManager.getLogger("io.s3e");

  LogLines() {
    super("s3e-test-lines", null, null, true, Property.EMPTY_ARRAY);
    start();
    logger.addAppender(this);
  }

  @Override
  public void append(LogEvent event) {
    String line = event.getLevel() + " " + event.getMessage().getFormattedMessage();
    loggers.put(line, event.getLoggerName());
    lines.add(line);
  }

  /** The logger of a line. */
  String logger(String line) {
    return loggers.getOrDefault(line, "none");
  }

  List<String> lines() {
    return lines;
  }

  @Override
  public void close() {
    logger.removeAppender(this);
    stop();
  }
}
