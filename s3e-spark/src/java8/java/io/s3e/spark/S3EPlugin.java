// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.setup.OldJava;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * S3E as a plugin of Spark: {@code spark.plugins=io.s3e.spark.S3EPlugin}. Spark makes one in the
 * driver and one in each executor, and asks it for the part of that process. On a Java that is too
 * old there is none, and the application does not start: one line says why.
 */
public final class S3EPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return part(DriverPlugin.class, "io.s3e.spark.S3EDriverPlugin");
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return part(ExecutorPlugin.class, "io.s3e.spark.S3EExecutorPlugin");
  }

  /** By its name, which is all that this class may know of one that an old Java cannot load. */
  private static <T> T part(Class<T> type, String name) {
    String problem = OldJava.problem();
    if (problem != null) {
      throw new TooOldException(problem);
    }
    try {
      return type.cast(Class.forName(name).getDeclaredConstructor().newInstance());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(name + " cannot be made", e);
    }
  }

  /** No line of any program is at fault, so there is no stack trace. */
  private static final class TooOldException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TooOldException(String message) {
      super(message, null, false, false);
    }
  }
}
