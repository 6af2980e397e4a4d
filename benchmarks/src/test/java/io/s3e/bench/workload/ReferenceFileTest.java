package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    byte[] piece = Arrays.copyOfRange(content, 100, 1100);

    assertThatCode(() -> file.check(100, ByteBuffer.wrap(piece, 0, 1000)))
        .doesNotThrowAnyException();
    piece[500] ^= 0x10;
    assertThatCode(() -> file.check(100, ByteBuffer.wrap(piece, 0, 500)))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> file.check(100, ByteBuffer.wrap(piece, 0, 1000)))
        .isInstanceOf(WrongBytesException.class)
        .hasMessageContaining("at 600");
    assertThatThrownBy(() -> file.check(9_500, ByteBuffer.wrap(piece, 0, 1000)))
        .isInstanceOf(WrongBytesException.class);
  }

  @Test
  void bytesBeyondTheEndAreWrong() throws Exception {
    Path path = Files.write(temp.resolve("short"), new byte[10]);
    ReferenceFile file = new ReferenceFile(path);

    assertThatThrownBy(() -> file.check(8, ByteBuffer.wrap(new byte[4], 0, 4)))
        .isInstanceOf(WrongBytesException.class)
        .hasMessageContaining("beyond the object's end at 10");
  }
}
