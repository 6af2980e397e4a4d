// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.s3e.Exports;
import java.util.Set;

/**
 * The imports that are allowed: of the core, the adapter's packages, and S3A's non-public types.
 */
@ArchTag("slow")
@AnalyzeClasses(packages = "io.s3e", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String S3A = "org.apache.hadoop.fs.s3a.";

  /**
   * Every type of S3A's that the adapter names and that S3A does not call public. Each one may move
   * in the next Hadoop: a new name here is a decision, and the profiles hadoop-* test it.
   */
  private static final Set<String> NON_PUBLIC_S3A =
      Set.of(
          // The seam: the file system that is extended, and what it hands out.
          S3A + "S3AFileSystem",
          S3A + "S3AInternals",
          S3A + "S3AReadOpContext",
          S3A + "S3AFileStatus",
          S3A + "S3AInstrumentation",
          S3A + "S3ObjectAttributes",
          S3A + "S3AInputPolicy",
          S3A + "S3AInputStream",
          S3A + "S3AEncryptionMethods",
          S3A + "S3ClientFactory",
          S3A + "DefaultS3ClientFactory",
          S3A + "AWSCredentialProviderList",
          S3A + "S3AUtils",
          S3A + "Statistic",
          S3A + "VectoredIOContext",
          S3A + "api.RequestFactory",
          S3A + "audit.AuditSpanS3A",
          S3A + "audit.S3AAuditConstants",
          S3A + "impl.AWSClientConfig",
          S3A + "impl.ChangeDetectionPolicy",
          S3A + "impl.InternalConstants",
          S3A + "impl.OpenFileSupport",
          S3A + "statistics.ChangeTrackerStatistics",
          S3A + "statistics.S3AInputStreamStatistics",
          S3A + "statistics.S3AStatisticsContext",
          // The stream SPI of Hadoop 3.4.2 and later.
          S3A + "impl.streams.AbstractObjectInputStreamFactory",
          S3A + "impl.streams.InputStreamType",
          S3A + "impl.streams.ObjectInputStream",
          S3A + "impl.streams.ObjectInputStreamCallbacks",
          S3A + "impl.streams.ObjectReadParameters",
          S3A + "impl.streams.StreamFactoryRequirements",
          S3A + "impl.streams.StreamIntegration",
          // The retries of a HEAD.
          S3A + "impl.StoreContext",
          // Of Hadoop 3.3, for hadoop33 alone.
          S3A + "auth.delegation.EncryptionSecrets",
          S3A + "impl.ChangeTracker",
          // Exceptions and keys, which S3A's users see.
          S3A + "Constants",
          S3A + "NoVersionAttributeException",
          S3A + "RemoteFileChangedException");

  private static final DescribedPredicate<JavaClass> OTHER_TYPES_OF_S3A =
      resideInAPackage("org.apache.hadoop.fs.s3a..")
          .and(
              DescribedPredicate.describe(
                  "are not in NON_PUBLIC_S3A",
                  type -> !NON_PUBLIC_S3A.contains(type.getName().replaceAll("\\$.*", ""))));

  @ArchTest
  static final ArchRule THE_CORE_KNOWS_NO_ADAPTER =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.s3e.hadoop..", "org.apache.hadoop..");

  private static final DescribedPredicate<JavaClass> TYPES_INSIDE_THE_CORE =
      resideInAPackage("io.s3e..")
          .and(resideOutsideOfPackage("io.s3e.hadoop.."))
          .and(
              DescribedPredicate.describe(
                  "are not in Exports",
                  type ->
                      !Exports.covers(Exports.API, type.getName())
                          && !Exports.covers(Exports.FOR_ADAPTER, type.getName())));

  @ArchTest
  static final ArchRule THE_INSIDE_OF_THE_CORE_STAYS_INSIDE =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat(TYPES_INSIDE_THE_CORE);

  /** The core exports nothing for the adapter that it does not use. */
  @ArchTest
  static void whatIsExportedForTheAdapterIsUsed(JavaClasses classes) {
    Set<String> used =
        classes.stream()
            .filter(type -> type.getPackageName().startsWith("io.s3e.hadoop"))
            .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
            .map(dependency -> dependency.getTargetClass().getName())
            .collect(toSet());
    assertThat(Exports.FOR_ADAPTER)
        .allMatch(
            exported -> used.stream().anyMatch(name -> Exports.covers(Set.of(exported), name)));
  }

  @ArchTest
  static final ArchRule THE_CRT_ONLY_THROUGH_THE_CORE =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("software.amazon.awssdk.crt..", "io.s3e.client.crt..");

  @ArchTest
  static final ArchRule S3AS_INSIDE_IS_NAMED_TYPE_BY_TYPE =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat(OTHER_TYPES_OF_S3A);

  @ArchTest
  static final ArchRule IMPORTS_GO_DOWNWARD =
      layeredArchitecture()
          .consideringOnlyDependenciesInAnyPackage("io.s3e.hadoop..")
          .layer("doctor")
          .definedBy("io.s3e.hadoop.doctor")
          .layer("file system")
          .definedBy("io.s3e.hadoop")
          .layer("hadoop33")
          .definedBy("io.s3e.hadoop.hadoop33")
          .layer("hadoop341")
          .definedBy("io.s3e.hadoop.hadoop341")
          .layer("stream")
          .definedBy("io.s3e.hadoop.stream")
          .layer("open")
          .definedBy("io.s3e.hadoop.open")
          .layer("history")
          .definedBy("io.s3e.hadoop.history")
          .layer("client")
          .definedBy("io.s3e.hadoop.client")
          .layer("cache")
          .definedBy("io.s3e.hadoop.cache")
          .layer("explain")
          .definedBy("io.s3e.hadoop.explain")
          .layer("conf")
          .definedBy("io.s3e.hadoop.conf")
          .layer("setup")
          .definedBy("io.s3e.hadoop.setup")
          .layer("spark")
          .definedBy("io.s3e.hadoop.spark")
          .layer("stats")
          .definedBy("io.s3e.hadoop.stats")
          .layer("cost")
          .definedBy("io.s3e.hadoop.cost")
          .whereLayer("doctor")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("file system")
          .mayOnlyBeAccessedByLayers("doctor")
          .whereLayer("hadoop33")
          .mayOnlyBeAccessedByLayers("doctor", "file system")
          .whereLayer("hadoop33")
          .mayNotAccessAnyLayer()
          .whereLayer("hadoop341")
          .mayOnlyBeAccessedByLayers("file system")
          .whereLayer("stream")
          .mayOnlyBeAccessedByLayers("file system", "hadoop341")
          .whereLayer("open")
          .mayOnlyBeAccessedByLayers("file system", "hadoop341", "stream")
          .whereLayer("client")
          .mayOnlyBeAccessedByLayers(
              "doctor", "file system", "hadoop341", "stream", "open", "history")
          .whereLayer("history")
          .mayOnlyBeAccessedByLayers("file system", "hadoop341", "stream")
          .whereLayer("cache")
          .mayOnlyBeAccessedByLayers("doctor", "file system", "client")
          .whereLayer("explain")
          .mayOnlyBeAccessedByLayers("cache")
          .whereLayer("explain")
          .mayNotAccessAnyLayer()
          .whereLayer("conf")
          .mayNotAccessAnyLayer()
          .whereLayer("setup")
          .mayNotAccessAnyLayer()
          .whereLayer("spark")
          .mayNotAccessAnyLayer()
          .whereLayer("stats")
          .mayNotAccessAnyLayer()
          .whereLayer("cost")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("cost")
          .mayNotAccessAnyLayer();
}
