// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.client.library.CrtLibrary;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;

/** The build means these tests to run on a certain Hadoop, SDK and jar: they do. */
class RunningVersionsTest {
  @Test
  void hadoop() {
    assertThat(VersionInfo.getVersion()).isEqualTo(System.getProperty("s3e.test.hadoop.version"));
  }

  @Test
  void sdk() throws ReflectiveOperationException {
    // Read by reflection: the compiler would put the constant it sees in its place.
    Object version =
        Class.forName("software.amazon.awssdk.core.util.VersionInfo")
            .getField("SDK_VERSION")
            .get(null);
    assertThat(version).isEqualTo(System.getProperty("s3e.test.sdk.version"));
  }

  @Test
  void bundleOnOtherVersions() {
    String expected = System.getProperty("s3e.test.jar");
    assertThat(ByteRange.class.getProtectionDomain().getCodeSource().getLocation().getPath())
        .contains(expected);
  }

  @Test
  void nativeLibraryLoads() {
    assertThat(CrtLibrary.unusableBecause()).isNull();
  }
}
