// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.spark.ui.S3EHistoryPlugin;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The classes that Spark loads by name are ones that the oldest Java of the line's Spark loads. */
class OldJavaPluginTest {
  /** Class files of Java 8 have it, those of Java 9 one more, and so on. */
  private static final int MAJOR_OF_JAVA_8 = 52;

  @ParameterizedTest
  @ValueSource(classes = {S3EPlugin.class, S3EHistoryPlugin.class})
  void thePluginIsOfTheJavaThatSparkBeginsWith(Class<?> plugin) throws IOException {
    int java = Integer.parseInt(System.getProperty("s3e.test.plugin.java"));
    try (InputStream in = plugin.getResourceAsStream(plugin.getSimpleName() + ".class");
        DataInputStream file = new DataInputStream(in)) {
      assertThat(file.readInt()).isEqualTo(0xCAFEBABE);
      assertThat(file.readUnsignedShort()).as("minor version").isZero();
      assertThat(file.readUnsignedShort()).isEqualTo(MAJOR_OF_JAVA_8 + java - 8);
    }
  }

  @Test
  void thePluginHasBothParts() {
    S3EPlugin plugin = new S3EPlugin();
    assertThat(plugin.driverPlugin()).isInstanceOf(S3EDriverPlugin.class);
    assertThat(plugin.executorPlugin()).isInstanceOf(S3EExecutorPlugin.class);
  }
}
