// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;

/** Which package may know of which; the list of layers below is the map of the core. */
@ArchTag("slow")
@AnalyzeClasses(packages = "io.s3e", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  /** From the ground up; those of one row do not know each other. */
  private static final List<List<String>> LAYERS =
      List.of(
          List.of("io.s3e.jvm"),
          List.of("io.s3e.block", "io.s3e.metrics", "io.s3e.buffer", "io.s3e.version"),
          List.of("io.s3e.client", "io.s3e.prefetch", "io.s3e.disk"),
          List.of(
              "io.s3e.memory",
              "io.s3e.fault",
              "io.s3e.columnar",
              "io.s3e.client.library",
              "io.s3e.client.given",
              "io.s3e.client.fallback"),
          List.of("io.s3e.fetch", "io.s3e.client.aws", "io.s3e.client.crt"),
          List.of("io.s3e.stream"),
          List.of("io.s3e"));

  @ArchTest
  static final ArchRule NO_CYCLES = slices().matching("io.s3e.(**)").should().beFreeOfCycles();

  @ArchTest
  static void importsGoOnlyDownward(JavaClasses classes) {
    for (int row = 0; row < LAYERS.size(); row++) {
      for (String layer : LAYERS.get(row)) {
        List<String> forbidden = new ArrayList<>(LAYERS.get(row));
        forbidden.remove(layer);
        LAYERS.subList(row + 1, LAYERS.size()).forEach(forbidden::addAll);
        noClasses()
            .that()
            .resideInAPackage(layer)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(forbidden.toArray(String[]::new))
            .as(layer + " knows nothing of what is beside or above it")
            .allowEmptyShould(true)
            .check(classes);
      }
    }
  }

  @ArchTest
  static final ArchRule NO_HADOOP =
      noClasses().should().dependOnClassesThat().resideInAPackage("org.apache.hadoop..");

  /** So that aws-crt alone will do: {@code WithoutSdkTest}. */
  @ArchTest
  static final ArchRule SDK_ONLY_WHERE_IT_IS_GIVEN =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.s3e.client.crt", "io.s3e.client.given")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon..");

  @ArchTest
  static final ArchRule THE_CRT_CLIENT_KNOWS_NO_SDK =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.client.crt")
          .should()
          .dependOnClassesThat(
              resideInAPackage("software.amazon..")
                  .and(resideOutsideOfPackage("software.amazon.awssdk.crt..")));

  /** It may be in another class loader than its user: only {@code CrtLibrary} makes it, by name. */
  @ArchTest
  static final ArchRule NOTHING_LINKS_AGAINST_THE_CRT_CLIENT =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.s3e.client.crt")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.s3e.client.crt");

  @ArchTest
  static final ArchRule THE_CRT_ONLY_BESIDE_ITS_USERS =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.s3e.client.crt")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon.awssdk.crt..");

  @ArchTest
  static final ArchRule POLICY_HAS_NO_THREADS =
      noClasses()
          .that()
          .resideInAnyPackage("io.s3e.prefetch", "io.s3e.columnar")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("java.util.concurrent..")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class);

  /** Value types may draw a number that nobody else has; that needs an atomic counter. */
  @ArchTest
  static final ArchRule VALUES_HAVE_NO_THREADS =
      noClasses()
          .that()
          .resideInAPackage("io.s3e.block")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("java.util.concurrent", "java.util.concurrent.locks")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class);

  @ArchTest
  static final ArchRule POLICY_DOES_NO_IO =
      noClasses()
          .that()
          .resideInAnyPackage("io.s3e.block", "io.s3e.prefetch", "io.s3e.columnar")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(InputStream.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(OutputStream.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Reader.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Writer.class)
          .orShould()
          .dependOnClassesThat()
          .resideInAnyPackage("java.nio.channels..", "java.nio.file..", "java.net..");

  @ArchTest
  static final ArchRule POLICY_HAS_NO_CLOCK =
      noClasses()
          .that()
          .resideInAnyPackage("io.s3e.block", "io.s3e.prefetch", "io.s3e.columnar")
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class);

  @ArchTest
  static final ArchRule NAMES_SAY_SOMETHING =
      noClasses()
          .should()
          .haveSimpleNameEndingWith("Util")
          .orShould()
          .haveSimpleNameEndingWith("Utils")
          .orShould()
          .haveSimpleNameEndingWith("Helper")
          .orShould()
          .haveSimpleNameEndingWith("Manager")
          .orShould()
          .haveSimpleNameEndingWith("Impl")
          .orShould()
          .resideInAnyPackage("..util..", "..utils..", "..common..", "..impl..");
}
