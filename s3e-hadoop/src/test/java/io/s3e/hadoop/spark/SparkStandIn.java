// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * A JVM with classes in place of Spark's own, under their names. The thread {@code main} runs a
 * task: it is killed by the property {@code test.task.killed}, and its split is told by {@code
 * test.split.path}, {@code …start} and {@code …length}.
 */
final class SparkStandIn {
  private static final Map<String, String> SPARK =
      Map.of(
          "org/apache/spark/TaskContext.java",
          """
          package org.apache.spark;
          public class TaskContext {
            public static TaskContext get() {
              return Thread.currentThread().getName().equals("main") ? new TaskContext() : null;
            }
            public boolean isInterrupted() { return Boolean.getBoolean("test.task.killed"); }
            public long taskAttemptId() { return 42; }
            public int stageId() { return 7; }
          }
          """,
          "org/apache/spark/rdd/InputFileBlockHolder.java",
          """
          package org.apache.spark.rdd;
          import org.apache.spark.TaskContext;
          import org.apache.spark.unsafe.types.UTF8String;
          public class InputFileBlockHolder {
            private static boolean isKnown() {
              return TaskContext.get() != null && System.getProperty("test.split.path") != null;
            }
            public static UTF8String getInputFilePath() {
              return new UTF8String(isKnown() ? System.getProperty("test.split.path") : "");
            }
            public static long getStartOffset() {
              return isKnown() ? Long.getLong("test.split.start") : -1;
            }
            public static long getLength() {
              return isKnown() ? Long.getLong("test.split.length") : -1;
            }
          }
          """,
          "org/apache/spark/unsafe/types/UTF8String.java",
          """
          package org.apache.spark.unsafe.types;
          public class UTF8String {
            private final String text;
            public UTF8String(String text) { this.text = text; }
            @Override public String toString() { return text; }
          }
          """);

  private SparkStandIn() {}

  /**
   * Starts a program.
   *
   * @param classes an empty directory
   */
  static ForkedJvm start(Class<?> program, Path classes) throws IOException, InterruptedException {
    compile(classes);
    List<String> classPath = new ArrayList<>(List.of(classes.toString()));
    classPath.addAll(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
    return ForkedJvm.of(program.getName()).options("-Xmx256m").classPath(classPath).start();
  }

  private static void compile(Path classes) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", classes.toString()));
    for (Map.Entry<String, String> source : SPARK.entrySet()) {
      Path file = classes.resolve(source.getKey());
      Files.createDirectories(file.getParent());
      Files.writeString(file, source.getValue());
      arguments.add(file.toString());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).isZero();
  }
}
