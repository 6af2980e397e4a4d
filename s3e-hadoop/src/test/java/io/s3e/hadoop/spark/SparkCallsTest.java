package io.s3e.hadoop.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import org.apache.hadoop.fs.Path;
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
    static Text path = new Text("");
    static long start = -1;
    static long length = -1;

    private Input() {}

    public static Text getInputFilePath() {
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
    "s3a://bucket/file.csv, 0, 0"
  })
  void noSplitOfAnotherFileOrOfUnknownBytes(String noted, long start, long length) {
    reads(noted, start, length);
    assertThat(calls.splitOf(new Path("s3a://bucket/file.csv"))).isNull();
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
  void whatSparkThrowsIsNotTheReads() {
    Task.CURRENT.set(
        new Task() {
          @Override
          public boolean isInterrupted() {
            throw new IllegalStateException("no task");
          }

          @Override
          public long taskAttemptId() {
            return 0;
          }

          @Override
          public int stageId() {
            return 0;
          }
        });
    assertThat(calls.killed()).isNull();
  }

  @Test
  void withoutSparkThereIsNobodyToAsk() {
    assertThat(SparkCalls.find(ClassLoader.getPlatformClassLoader())).isNull();
    assertThat(SparkTask.isPossible()).isFalse();
    assertThat(SparkTask.killed()).isNull();
    assertThat(SparkTask.splitOf(new Path("s3a://bucket/file.csv"))).isNull();
  }
}
