// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a user is told where something is missing: in JVMs that lack it, and by made-up versions.
 */
@Tag("any-hadoop")
@Timeout(300)
@Slow
class RequirementsTest {
  /** hadoop-common and hadoop-aws 3.3.4, and what these are loaded by that newer ones are not. */
  private static final Path OLD_HADOOP =
      Path.of(System.getProperty("s3e.test.old.hadoop")).normalize();

  @Test
  void thisClassPathIsFit() throws IOException {
    Requirements.check();
    Requirements found = Requirements.found();
    assertThat(found.hadoop().version()).isEqualTo(System.getProperty("s3e.test.hadoop.version"));
    assertThat(found.hadoopAws().version()).isEqualTo(found.hadoop().version());
    assertThat(found.sdk().version()).isEqualTo(System.getProperty("s3e.test.sdk.version"));
  }

  /** As stock Spark 3.5, with hadoop-aws and without its SDK, whatever other SDK there is. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisabledForJreRange(min = JRE.JAVA_24, disabledReason = "Hadoop 3.3 does not run there")
  void hadoop33NeedsVersion1OfTheSdk(boolean withSdk2) throws Exception {
    List<String> classPath = onHadoop33(classPath(entry -> withSdk2 || !isSdk2(entry)));
    classPath.removeIf(entry -> name(entry).startsWith("aws-java-sdk-s3-"));
    assertThat(make("context", classPath))
        .contains("cannot read here: the AWS SDK for Java 1 is not on the class path. ")
        .contains("no AWS SDK for Java 1. Needed: ")
        .doesNotContain("reads by S3A alone");
  }

  /** Its S3A is loaded by two modules and reads by three. */
  @ParameterizedTest
  @ValueSource(strings = {"filesystem", "context"})
  @DisabledForJreRange(min = JRE.JAVA_24, disabledReason = "Hadoop 3.3 does not run there")
  void hadoop33NeedsAllOfItsSdk(String way) throws Exception {
    String said = make(way, onHadoop33(classPath(entry -> !isSdk2(entry))));
    assertThat(said)
        .contains("java.io.IOException: S3E ")
        .contains("cannot read here: the AWS SDK for Java 1 lacks com.amazonaws.services.dynamodb")
        .contains(", AWS SDK for Java 1 1.12.262 (" + OLD_HADOOP)
        .contains("Found: hadoop-common 3.3.4 (" + OLD_HADOOP)
        .contains("hadoop-aws 3.3.4 (" + OLD_HADOOP)
        .contains("Needed: Hadoop 3.3.4 to 3.3.6, or 3.4.1 or newer, hadoop-aws of exactly that")
        .doesNotContain("NoClassDefFoundError");
  }

  @Test
  void aFileContextTellsThatTheSdkIsMissing() throws Exception {
    assertThat(make("context", classPath(entry -> !isSdk2(entry))))
        .contains("IOException: S3E ")
        .contains("cannot read here: the AWS SDK for Java 2 is not on the class path. Found: ")
        .contains("no AWS SDK for Java 2. Needed: ");
  }

  @Test
  void aFileContextTellsThatHadoopAwsIsMissing() throws Exception {
    assertThat(make("context", classPath(entry -> !name(entry).matches("hadoop-aws-\\d.*"))))
        .contains("IOException: S3E ")
        .contains("cannot read here: hadoop-aws is not on the class path. Found: ");
  }

  /** The class of a file system cannot be loaded without the one that it extends; nor can S3A. */
  @Test
  void withoutTheSdkTheJvmRefusesS3AItself() throws Exception {
    List<String> withoutSdk = classPath(entry -> !isSdk2(entry));
    assertThat(make("filesystem", withoutSdk))
        .contains("java.lang.NoClassDefFoundError: software/amazon/awssdk/");
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "3.4.1, 3.4.1, ''",
        "3.5.0, 3.5.0, ''",
        "10.0.0-SNAPSHOT, 10.0.0-SNAPSHOT, ''",
        "3.4.1-amzn-3, 3.4.1-amzn-2, ''",
        "3.4.2, none, ''",
        "unknown, unknown, ''",
        "3.4.0, 3.4.0, 'Hadoop 3.4.0 is too old'",
        "3.3.4, 3.3.4, ''",
        "3.3.6.7-cdp, 3.3.6.7-cdp, ''",
        "3.3.3, 3.3.3, 'Hadoop 3.3.3 is too old'",
        "2.10.2, 2.10.2, 'Hadoop 2.10.2 is too old'",
        "3.4.1, 3.4.2, 'hadoop-aws 3.4.2 is not of Hadoop''s version 3.4.1'",
        "3.5.0, 3.4.2, 'hadoop-aws 3.4.2 is not of Hadoop''s version 3.5.0'"
      })
  void versionsAreComparedByTheirNumbers(String hadoop, @Nullable String hadoopAws, String lack) {
    Requirements made =
        new Requirements(
            new FoundLibrary("hadoop-common", hadoop, "a.jar"),
            new FoundLibrary("hadoop-aws", hadoopAws, "b.jar"),
            new FoundLibrary("AWS SDK for Java 2", "2.1.1", "c.jar"));
    assertThat(String.join("; ", made.unfitVersions())).isEqualTo(lack);
  }

  /** Advice that ends in a NoClassDefFoundError is none. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "3.3.1, 3.3.1, none, true",
        "3.3.1, 3.3.1, 2.29.52, true",
        "3.3.4, 3.3.4, none, false",
        "3.4.0, 3.4.0, 2.24.6, true",
        "3.4.0, 3.4.0, none, false",
        "3.4.2, 3.4.2, none, false",
        "3.4.2, none, 2.29.52, false",
        "3.3.4, 3.4.2, 2.29.52, false",
        "3.5.0, 3.4.2, 2.29.52, false"
      })
  void s3aAloneIsAdvisedWhereItReads(
      String hadoop, @Nullable String hadoopAws, @Nullable String sdk, boolean advised) {
    Requirements made =
        new Requirements(
            new FoundLibrary("hadoop-common", hadoop, "a.jar"),
            new FoundLibrary("hadoop-aws", hadoopAws, hadoopAws == null ? null : "b.jar"),
            new FoundLibrary("AWS SDK for Java 2", sdk, sdk == null ? null : "c.jar"));
    String said = catchThrowableOfType(made::requireAll, IOException.class).getMessage();
    assertThat(said)
        .contains("cannot read here: ", ". Needed: Hadoop 3.3.4 to 3.3.6, or 3.4.1 or newer");
    assertThat(said.contains("reads by S3A alone")).as(said).isEqualTo(advised);
  }

  private static String make(String way, List<String> classPath) throws Exception {
    try (ForkedJvm jvm =
        ForkedJvm.of(FileSystemMaker.class.getName())
            .options("-Xmx128m")
            .classPath(classPath)
            .start(way)) {
      return jvm.await("SAID ");
    }
  }

  private static List<String> classPath(Predicate<String> kept) {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(kept)
        .collect(Collectors.toList());
  }

  /** The same libraries under Hadoop 3.3.4, which needs no other ones to begin. */
  private static List<String> onHadoop33(List<String> classPath) throws IOException {
    List<String> old = new ArrayList<>();
    try (Stream<Path> jars = Files.list(OLD_HADOOP)) {
      jars.map(Path::toString).sorted().forEach(old::add);
    }
    assertThat(old).hasSize(5);
    classPath.stream()
        .filter(entry -> !name(entry).matches("hadoop-(common|aws)-\\d.*"))
        .forEach(old::add);
    return old;
  }

  private static boolean isSdk2(String entry) {
    return entry.replace(File.separatorChar, '/').contains("/software/amazon/awssdk/");
  }

  private static String name(String entry) {
    return Path.of(entry).getFileName().toString();
  }
}
