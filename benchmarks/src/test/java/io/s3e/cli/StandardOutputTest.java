// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A reader that has closed the pipe, in the words of each platform. */
class StandardOutputTest {
  @ParameterizedTest
  @ValueSource(strings = {"Broken pipe", "broken pipe", "Pipe closed", "Pipe Closed"})
  void aClosedPipeIsToldByWhateverLetters(String message) {
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException(message);
          }
        };
    assertThatThrownBy(() -> new StandardOutput(closed).write(ByteBuffer.allocate(1)))
        .isInstanceOf(ClosedPipeException.class);
  }

  /** In the words of a system whose user speaks Italian. */
  @Test
  @Slow
  void whereTheWordsAreNotKnownAPipeIsKnownByItsHavingNoPosition(@TempDir Path directory)
      throws Exception {
    IOException failure = new IOException("Pipe interrotta");
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    // For both, so that nobody else has to open it.
    try (FileChannel channel = FileChannel.open(pipe, READ, WRITE)) {
      assertThat(StandardOutput.isOfPipe(failure, channel)).isTrue();
    }
    try (FileChannel file = FileChannel.open(directory.resolve("file"), CREATE, WRITE)) {
      assertThat(StandardOutput.isOfPipe(failure, file)).as("a file").isFalse();
      file.close();
      assertThat(StandardOutput.isOfPipe(failure, file)).as("one that is closed").isFalse();
    }
  }
}
