// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
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
}
