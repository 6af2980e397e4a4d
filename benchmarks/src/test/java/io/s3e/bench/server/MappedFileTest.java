// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedFileTest {

  private static final long GIBIBYTE = 1L << 30;

  @TempDir private Path temp;

  @Test
  void viewsEndAtASegmentsEndAndGoOnInTheNext() throws Exception {
    try (FileChannel file =
        FileChannel.open(
            temp.resolve("sparse"),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE)) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), GIBIBYTE - 2);
      MappedFile mapped = new MappedFile(file.size());

      assertThat(mapped.view(file, GIBIBYTE - 2, 4)).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2}));
      assertThat(mapped.view(file, GIBIBYTE, 4)).isEqualTo(ByteBuffer.wrap(new byte[] {3, 4}));
      assertThat(mapped.view(file, GIBIBYTE - 1, 1)).isEqualTo(ByteBuffer.wrap(new byte[] {2}));
      assertThatThrownBy(() -> mapped.view(file, GIBIBYTE + 2, 1))
          .isInstanceOf(EOFException.class)
          .hasMessageContaining(Long.toString(GIBIBYTE + 2));
    }
  }
}
