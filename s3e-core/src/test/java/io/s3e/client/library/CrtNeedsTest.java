package io.s3e.client.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.s3e.client.library.CrtNeeds.Member;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The probe knows all that S3E's code names of aws-crt, by the word of another reader of it. */
class CrtNeedsTest {
  private static final String ENTRY = "io.s3e.client.crt.CrtEntry";
  private static final String LENDING = "io.s3e.client.crt.BorrowedPools";

  private static final JavaClasses CLIENT =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.s3e.client.crt");

  private final ClassLoader loader = getClass().getClassLoader();

  @Test
  void everyClassOfTheClientIsReached() throws IOException {
    Set<String> compiled =
        CLIENT.stream()
            .map(JavaClass::getName)
            .filter(name -> !name.endsWith("package-info"))
            .collect(Collectors.toSet());
    assertThat(CrtNeeds.of(loader, ENTRY, null).reached()).isEqualTo(compiled);
  }

  @Test
  void everyMemberThatTheClientNamesIsKnown() throws IOException {
    Set<String> known = new TreeSet<>();
    for (Member member : CrtNeeds.of(loader, ENTRY, null).members()) {
      known.add(member.owner() + "." + member.name());
    }
    Set<String> named = new TreeSet<>();
    for (JavaClass origin : CLIENT) {
      origin.getAccessesFromSelf().stream()
          .map(access -> access.getTarget())
          .filter(target -> target.getOwner().getName().startsWith(CrtNeeds.CRT_PREFIX))
          .forEach(target -> named.add(target.getOwner().getName() + "." + target.getName()));
    }
    assertThat(named).hasSizeGreaterThan(50);
    assertThat(known).containsAll(named);
  }

  @Test
  void everyMethodThatTheCrtCallsIsListed() {
    Set<Member> overriding =
        CLIENT.stream()
            .flatMap(type -> type.getMethods().stream())
            .flatMap(CrtNeedsTest::overridden)
            .collect(Collectors.toSet());
    assertThat(overriding).isNotEmpty();
    assertThat(CrtNeeds.CALLED_BACK).containsAll(overriding);
  }

  @Test
  void whatOnlyLendingNeedsIsBehindItsFence() throws IOException {
    CrtNeeds copying = CrtNeeds.of(loader, ENTRY, LENDING);
    CrtNeeds lending = CrtNeeds.of(loader, LENDING, null);
    assertThat(copying.classes()).contains("software.amazon.awssdk.crt.s3.S3Client");
    assertThat(copying.classes().toString()).doesNotContain("Borrowed", "DirectBufferPool");
    assertThat(lending.classes())
        .contains(
            "software.amazon.awssdk.crt.s3.S3BorrowedBufferDelivery",
            "software.amazon.awssdk.crt.s3.S3DirectBufferPoolOptions");
    assertThat(lending.members().toString())
        .contains("withDirectBufferPoolOptions", "onResponseBodyBorrowed");
  }

  @Test
  void whatIsNoClassFileIsRefused() {
    assertThatThrownBy(() -> ConstantPool.of(new byte[64]))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not a class file");
    assertThatThrownBy(() -> CrtNeeds.of(loader, "io.s3e.client.crt.Absent", null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("io/s3e/client/crt/Absent.class is missing");
  }

  private static java.util.stream.Stream<Member> overridden(JavaMethod method) {
    return method.getOwner().getAllRawInterfaces().stream()
        .filter(parent -> parent.getName().startsWith(CrtNeeds.CRT_PREFIX))
        .flatMap(parent -> parent.getMethods().stream())
        .filter(
            inherited ->
                inherited.getName().equals(method.getName())
                    && inherited.getDescriptor().equals(method.getDescriptor()))
        .map(
            inherited ->
                new Member(
                    inherited.getOwner().getName(),
                    inherited.getName(),
                    inherited.getDescriptor()));
  }
}
