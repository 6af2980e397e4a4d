package io.s3e.hadoop.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A read that waits ends when Spark kills its task; Spark's own classes are stood in for. */
@Timeout(300)
class KilledTaskTest {
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
          import org.apache.spark.unsafe.types.UTF8String;
          public class InputFileBlockHolder {
            public static UTF8String getInputFilePath() { return new UTF8String(); }
            public static long getStartOffset() { return -1; }
            public static long getLength() { return -1; }
          }
          """,
          "org/apache/spark/unsafe/types/UTF8String.java",
          """
          package org.apache.spark.unsafe.types;
          public class UTF8String {
            @Override public String toString() { return ""; }
          }
          """);

  @TempDir Path classes;

  private void compileSpark() throws Exception {
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

  @Test
  void itsReadEndsAndNamesTheTask() throws Exception {
    compileSpark();
    List<String> classPath = new ArrayList<>(List.of(classes.toString()));
    classPath.addAll(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
    try (ForkedJvm jvm =
        ForkedJvm.of(KilledTaskReader.class.getName())
            .options("-Xmx256m")
            .classPath(classPath)
            .start()) {
      jvm.await("KILLED");
      assertThat(jvm.await("FAILED "))
          .contains("InterruptedIOException")
          .contains("Spark has killed task 42 of stage 7")
          .contains("file.csv");
    }
  }
}
