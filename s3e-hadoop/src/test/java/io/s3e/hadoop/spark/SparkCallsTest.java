// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.columnar.SplitSource;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is made of Spark's answers, told by classes with Spark's methods. */
class SparkCallsTest {
  /** Spark's TaskContext. */
  public abstract static class Task {
    static final ThreadLocal<Task> CURRENT = new ThreadLocal<>();

    public static Task get() {
      return CURRENT.get();
    }

    public abstract boolean isInterrupted();

    public abstract long taskAttemptId();

    public abstract int stageId();
  }

  /** Spark's InputFileBlockHolder. */
  public static final class Input {
    static @Nullable Text path = new Text("");
    static long start = -1;
    static long length = -1;
    static @Nullable Error failure;

    private Input() {}

    public static @Nullable Text getInputFilePath() {
      if (failure != null) {
        throw failure;
      }
      return path;
    }

    public static long getStartOffset() {
      return start;
    }

    public static long getLength() {
      return length;
    }
  }

  /** Spark's UTF8String. */
  public static final class Text {
    private final String text;

    Text(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  private final SparkCalls calls;

  SparkCallsTest() throws ReflectiveOperationException {
    calls = new SparkCalls(Task.class, Input.class, Text.class);
  }

  @AfterEach
  void reset() {
    Task.CURRENT.remove();
    reads("", -1, -1);
    Input.failure = null;
  }

  private static void reads(String path, long start, long length) {
    Input.path = new Text(path);
    Input.start = start;
    Input.length = length;
  }

  private static Task task(boolean killed) {
    return new Task() {
      @Override
      public boolean isInterrupted() {
        return killed;
      }

      @Override
      public long taskAttemptId() {
        return 17;
      }

      @Override
      public int stageId() {
        return 3;
      }
    };
  }

  @ParameterizedTest
  @CsvSource({
    "s3a://bucket/a/file.csv, s3a://bucket/a/file.csv",
    "s3a://bucket/a b/file.csv, s3a://bucket/a b/file.csv",
    "s3a://bucket/a b/file.csv, s3a://bucket/a%20b/file.csv"
  })
  void theSplitOfTheFileThatIsOpened(String opened, String noted) {
    reads(noted, 100, 50);
    assertThat(calls.splitOf(new Path(opened))).isEqualTo(new ByteRange(100, 150));
  }

  @ParameterizedTest
  @CsvSource({
    "'', -1, -1",
    "s3a://bucket/other.csv, 0, 50",
    "s3a://other/file.csv, 0, 50",
    "s3a://bucket/file.csv, -1, 50",
    "s3a://bucket/file.csv, 0, -1",
    "s3a://bucket/file.csv, 0, 0",
    "s3a://bucket/file.csv, 1, 9223372036854775807"
  })
  void noSplitOfAnotherFileOrOfUnknownBytes(String noted, long start, long length) {
    reads(noted, start, length);
    assertThat(calls.splitOf(new Path("s3a://bucket/file.csv"))).isNull();
  }

  @Test
  void aSplitThatSparkCannotTellIsNotKnown() {
    Input.path = null;
    assertThat(calls.splitOf(new Path("s3a://bucket/file.csv"))).isNull();
    Input.failure = new NoClassDefFoundError("Spark is gone");
    assertThat(calls.splitOf(new Path("s3a://bucket/file.csv"))).isNull();
  }

  @Test
  void aJvmAtItsEndIsNotTakenForAnUnknownSplit() {
    Input.failure = new OutOfMemoryError("no heap");
    assertThatThrownBy(() -> calls.splitOf(new Path("s3a://bucket/file.csv")))
        .isSameAs(Input.failure);
  }

  @Test
  void aKilledTaskIsNamed() {
    Task.CURRENT.set(task(true));
    assertThat(calls.killed()).isEqualTo("Spark has killed task 17 of stage 3");
  }

  @Test
  void nothingIsToldOfATaskThatGoesOnOrOfNone() {
    assertThat(calls.killed()).isNull();
    Task.CURRENT.set(task(false));
    assertThat(calls.killed()).isNull();
  }

  @Test
  void aTaskAndItsStageAreTheLabelOfWhatTheyRead() {
    assertThat(calls.label()).isNull();
    Task.CURRENT.set(task(false));
    assertThat(calls.label()).isEqualTo("stage 3, task 17");
  }

  @Test
  void whatSparkThrowsIsNotTheReads() {
    Task.CURRENT.set(
        new Task() {
          @Override
          public boolean isInterrupted() {
            throw new IllegalStateException("no task");
          }

          @Override
          public long taskAttemptId() {
            throw new IllegalStateException("no task");
          }

          @Override
          public int stageId() {
            return 0;
          }
        });
    assertThat(calls.killed()).isNull();
    assertThat(calls.label()).isNull();
  }

  @Test
  void withoutSparkThereIsNobodyToAsk() {
    assertThat(SparkCalls.find(ClassLoader.getPlatformClassLoader())).isNull();
    assertThat(SparkTask.isPossible()).isFalse();
    assertThat(SparkTask.killed()).isNull();
    assertThat(SparkTask.label()).isNull();
    assertThat(SparkTask.splitOf(new Path("s3a://bucket/file.csv"))).isNull();
    assertThat(SparkTask.splits(new Path("s3a://bucket/file.csv"))).isSameAs(SplitSource.UNKNOWN);
  }
}
