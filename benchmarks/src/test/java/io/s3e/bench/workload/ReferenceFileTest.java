// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.bench.data.ObjectSlice;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReferenceFileTest {

  @TempDir private Path temp;

  @Test
  void namesTheFirstByteThatDiffers() throws Exception {
    byte[] content = new byte[10_000];
    new Random(3).nextBytes(content);
    Path path = Files.write(temp.resolve("file"), content);
    ReferenceFile file = new ReferenceFile(path);
    ObjectSlice object = new ObjectSlice("s3a://b/k", 1_000, 5_000, 4_000);
    byte[] piece = Arrays.copyOfRange(content, 4_100, 5_100);

    assertThatCode(() -> file.check(object, 1_100, ByteBuffer.wrap(piece)))
        .doesNotThrowAnyException();
    piece[500] ^= 0x10;
    assertThatCode(() -> file.check(object, 1_100, ByteBuffer.wrap(piece, 0, 500)))
        .doesNotThrowAnyException();
    assertThatCode(() -> file.check(object, 1_601, ByteBuffer.wrap(piece, 501, 499)))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> file.check(object, 1_100, ByteBuffer.wrap(piece)))
        .isInstanceOf(WrongBytesException.class)
        .hasMessageContaining("at 1600 of s3a://b/k");
  }

  @Test
  void bytesOutsideTheObjectAreWrong() throws Exception {
    Path path = Files.write(temp.resolve("short"), new byte[100]);
    ReferenceFile file = new ReferenceFile(path);
    ObjectSlice object = new ObjectSlice("s3a://b/k", 0, 10, 50);

    assertThatThrownBy(() -> file.check(object, 8, ByteBuffer.allocate(4)))
        .isInstanceOf(WrongBytesException.class)
        .hasMessageContaining("4 bytes at 8");
    assertThatThrownBy(() -> file.check(object, -1, ByteBuffer.allocate(4)))
        .isInstanceOf(WrongBytesException.class);
  }
}
