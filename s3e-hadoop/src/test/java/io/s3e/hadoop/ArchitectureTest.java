package io.s3e.hadoop;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the adapter may know of the core, and the core of the adapter. */
@AnalyzeClasses(packages = "io.s3e", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule THE_CORE_KNOWS_NO_ADAPTER =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.s3e.hadoop..", "org.apache.hadoop..");

  @ArchTest
  static final ArchRule THE_INSIDE_OF_THE_CORE_STAYS_INSIDE =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.s3e.cache..", "io.s3e.buffer..");

  @ArchTest
  static final ArchRule THE_CRT_ONLY_THROUGH_THE_CORE =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.hadoop..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon.awssdk.crt..");
}
