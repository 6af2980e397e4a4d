// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.s3e.hadoop.hadoop341.StreamSpi;
import io.s3e.testing.Slow;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;

/**
 * Every method, constructor and field of Hadoop and of the SDK that S3E's compiled classes name is
 * there in the versions at hand, also where no test comes by.
 */
@Slow
class LinkageTest {
  /** Loaded only where hadoop-aws has the stream SPI, from 3.4.2 on. */
  private static final Set<String> OF_THE_STREAM_SPI =
      Set.of("S3EStreamFactory", "S3EObjectInputStream", "SpiStreamRequests", "StreamSpi");

  /** Loaded only on Hadoop 3.3, whose profiles test it. */
  private static final String OF_HADOOP_33 = "io.s3e.hadoop.hadoop33";

  private static final List<String> BROUGHT_BY_THE_CLUSTER =
      List.of("org.apache.hadoop.", "software.amazon.awssdk.", "org.slf4j.");

  @Test
  void everythingNamedIsThere() {
    JavaClasses classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("io.s3e");
    Set<String> missing = new TreeSet<>();
    for (JavaClass origin : classes) {
      if (isChecked(origin)) {
        origin.getAccessesFromSelf().stream()
            .filter(LinkageTest::isMissing)
            .forEach(access -> missing.add(access.getDescription()));
      }
    }
    assertThat(classes).hasSizeGreaterThan(100);
    assertThat(missing).isEmpty();
  }

  private static boolean isChecked(JavaClass origin) {
    if (origin.getPackageName().equals(OF_HADOOP_33)) {
      return false;
    }
    return hasStreamSpi() || !OF_THE_STREAM_SPI.contains(outermost(origin).getSimpleName());
  }

  private static JavaClass outermost(JavaClass origin) {
    return origin.getEnclosingClass().map(LinkageTest::outermost).orElse(origin);
  }

  /** A method that looks for the SPI knows what it does without. */
  private static boolean asksForTheStreamSpi(JavaCodeUnit origin) {
    return !hasStreamSpi()
        && origin.getMethodCallsFromSelf().stream()
            .anyMatch(
                call ->
                    call.getTargetOwner().isEquivalentTo(StreamSpi.class)
                        && call.getName().equals("isPresent"));
  }

  private static boolean hasStreamSpi() {
    return !VersionInfo.getVersion().equals("3.4.1");
  }

  private static boolean isMissing(JavaAccess<?> access) {
    AccessTarget target = access.getTarget();
    return !asksForTheStreamSpi(access.getOrigin())
        // S3E brings that one and does not link against the cluster's.
        && !target.getOwner().getName().startsWith("software.amazon.awssdk.crt.")
        && BROUGHT_BY_THE_CLUSTER.stream().anyMatch(target.getOwner().getName()::startsWith)
        && target.resolveMember().isEmpty();
  }
}
