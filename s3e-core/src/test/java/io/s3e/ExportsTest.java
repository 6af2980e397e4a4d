// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import io.s3e.client.crt.CrtEntry;
import io.s3e.client.library.AwsCrtMBean;
import io.s3e.jvm.MemoryAccountMBean;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The core exports {@link Exports}, all that these need, and says that the rest is internal. */
@ArchTag("slow")
@AnalyzeClasses(packages = "io.s3e", importOptions = ImportOption.DoNotIncludeTests.class)
class ExportsTest {
  /** Made by name in a class loader of its own; asked for by the JVM. */
  private static final Set<Class<?>> PUBLIC_WITHOUT_A_CALLER =
      Set.of(CrtEntry.class, MemoryAccountMBean.class, AwsCrtMBean.class, GetsMBean.class);

  @ArchTest
  static void signaturesOfTheApiNameOnlyTheApi(JavaClasses classes) {
    for (JavaClass type : classes) {
      if (isVisible(type) && isApi(type)) {
        assertThat(namedInSignatures(type))
            .as("types of S3E's in signatures of " + type.getName())
            .allMatch(ExportsTest::isApi);
      }
    }
  }

  @ArchTest
  static void theRestOfAPackageIsCalledInternal(JavaClasses classes) throws IOException {
    Map<String, List<JavaClass>> packages =
        classes.stream()
            .filter(type -> type.isTopLevelClass() && isVisible(type))
            .collect(groupingBy(JavaClass::getPackageName));
    for (Map.Entry<String, List<JavaClass>> each : packages.entrySet()) {
      String text = header(each.getKey());
      if (each.getValue().stream().allMatch(ExportsTest::isApi)) {
        assertThat(text).as(each.getKey()).doesNotContain("Internal");
      } else {
        assertThat(text).as(each.getKey()).contains(sentence(each.getKey()));
      }
    }
  }

  @ArchTest
  static void noTypeIsPublicWithoutNeed(JavaClasses classes) {
    Set<JavaClass> needed =
        classes.stream()
            .filter(ExportsTest::isVisible)
            .flatMap(
                type ->
                    namedInSignatures(type).stream()
                        .map(ExportsTest::outermost)
                        .filter(named -> !named.equals(outermost(type))))
            .collect(toSet());
    assertThat(classes)
        .filteredOn(type -> type.isTopLevelClass() && isVisible(type) && !needed.contains(type))
        .filteredOn(type -> !isExported(type) && !isUsedByAnotherPackage(type))
        .as("public types that neither another package nor a signature names")
        .isEmpty();
  }

  private static boolean isApi(JavaClass type) {
    return Exports.covers(Exports.API, type.getName());
  }

  private static boolean isExported(JavaClass type) {
    return Stream.of(
            Exports.API, Exports.FOR_ADAPTER, Exports.FOR_COMMAND_LINE, PUBLIC_WITHOUT_A_CALLER)
        .anyMatch(exported -> Exports.covers(exported, type.getName()));
  }

  private static boolean isUsedByAnotherPackage(JavaClass type) {
    return type.getDirectDependenciesToSelf().stream()
        .map(Dependency::getOriginClass)
        .anyMatch(user -> !user.getPackageName().equals(type.getPackageName()));
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ExportsTest::outermost).orElse(type);
  }

  private static boolean isVisible(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(ExportsTest::isVisible).orElse(true);
  }

  /** S3E's types in what another package can see of {@code type}. */
  private static Set<JavaClass> namedInSignatures(JavaClass type) {
    Stream<JavaType> declaration =
        Stream.of(
                type.getSuperclass().stream(),
                type.getInterfaces().stream(),
                type.getTypeParameters().stream())
            .flatMap(each -> each);
    Stream<JavaClass> units =
        Stream.concat(type.getMethods().stream(), type.getConstructors().stream())
            .filter(unit -> isVisible(unit.getModifiers()))
            .flatMap(
                (JavaCodeUnit unit) ->
                    Stream.concat(
                        unit.getAllInvolvedRawTypes().stream(), unit.getExceptionTypes().stream()));
    Stream<JavaClass> fields =
        type.getFields().stream()
            .filter(field -> isVisible(field.getModifiers()))
            .map(JavaField::getAllInvolvedRawTypes)
            .flatMap(Collection::stream);
    return Stream.of(
            declaration.flatMap(each -> each.getAllInvolvedRawTypes().stream()), units, fields)
        .flatMap(each -> each)
        .map(JavaClass::getBaseComponentType)
        .filter(named -> named.getPackageName().startsWith("io.s3e"))
        .collect(toSet());
  }

  private static boolean isVisible(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }

  private static String sentence(String packageName) {
    String exported =
        Exports.API.stream()
            .filter(type -> type.getPackageName().equals(packageName))
            .map(type -> type.getCanonicalName().substring(packageName.length() + 1))
            .sorted()
            .map(name -> "{@link " + name + "}")
            .collect(joining(", "));
    return "Internal to S3E" + (exported.isEmpty() ? "." : " but for " + exported + ".");
  }

  /** The words of a package-info, on one line. */
  private static String header(String packageName) throws IOException {
    Path file = Path.of("src/main/java", packageName.replace('.', '/'), "package-info.java");
    return Files.readString(file).replaceAll("\\s*\\n \\*\\s*", " ");
  }
}
