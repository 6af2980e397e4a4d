// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import io.s3e.version.Version;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The artifact's hadoop-aws under an older Hadoop, as on Spark 3.5 as it is shipped: in a JVM whose
 * Hadoop says so of itself.
 */
@Tag("spark")
class UnfitClassPathTest {
  private static final String WENT_ON = "WENT ON";
  private static final String DRIVER = "driver";

  @TempDir Path directory;

  /** A Spark with the plugin, or the part of an executor as Spark begins it. */
  public static final class Application {
    private Application() {}

    public static void main(String[] args) {
      if (args[0].equals(DRIVER)) {
        SparkSession.builder()
            .master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.plugins", S3EPlugin.class.getName())
            .getOrCreate();
      } else {
        // The libraries come before anything that Spark would have to answer.
        new S3EPlugin().executorPlugin().init(null, Map.of());
      }
      System.out.println(WENT_ON);
    }
  }

  private List<String> said(String part) throws Exception {
    Files.writeString(directory.resolve("common-version-info.properties"), "version=3.3.4\n");
    String[] opened =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(option -> option.startsWith("--add-opens"))
            .toArray(String[]::new);
    List<String> classPath =
        Stream.concat(
                Stream.of(directory.toString()),
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)))
            .toList();
    try (ForkedJvm jvm =
        ForkedJvm.of(Application.class.getName())
            .options("-Xmx512m", "-Djava.io.tmpdir=" + directory)
            .options(opened)
            .classPath(classPath)
            .in(directory)
            .start(part)) {
      jvm.awaitEnd();
      List<String> said = jvm.rest();
      assertThat(jvm.exitCode()).as("%s", said).isEqualTo(1);
      return said;
    }
  }

  @Test
  void theApplicationEndsAtOnceAndTheLastWordIsWhatIsNeeded() throws Exception {
    List<String> said = said(DRIVER);
    assertThat(said)
        .noneMatch(line -> line.contains(WENT_ON) || line.contains("NoClassDefFoundError"));
    assertThat(said.get(said.size() - 1))
        .contains("S3E " + Version.text() + " cannot read here: ")
        .contains("the AWS SDK for Java 1 is not on the class path. Found: ")
        .contains(
            "cannot read here: hadoop-aws "
                + System.getProperty("s3e.test.hadoop.version")
                + " is not of Hadoop's version 3.3.4; ")
        .contains(". Needed: Hadoop 3.3.4 to 3.3.6, or 3.4.1 or newer, ")
        .contains("take the artifact s3e-spark-3.5_2.12 with all that it brings (--packages)")
        .contains("leave out spark.plugins=io.s3e.spark.S3EPlugin and its artifact")
        .doesNotContain("reads by S3A alone");
  }

  @Test
  void anExecutorDoesNotBeginEither() throws Exception {
    List<String> said = said("executor");
    assertThat(said.get(said.size() - 1))
        .contains("S3E " + Version.text() + " cannot read here: hadoop-aws ")
        .contains(" is not of Hadoop's version 3.3.4; ");
  }
}
