package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the janitor says is understood, and nothing else is. */
class PublicationTest {
  private final Publication publication =
      new Publication(1700000000000L, 1L << 40, 12345, Map.of("1-00ff", 7L, "2-00ff", 0L));

  @Test
  void isReadAsItWasWritten() {
    assertThat(Publication.parse(publication.toBytes())).isEqualTo(publication);
    Publication empty = new Publication(0, 0, 0, Map.of());
    assertThat(Publication.parse(empty.toBytes())).isEqualTo(empty);
  }

  @Test
  void aPartOfItIsNone() {
    byte[] whole = publication.toBytes();
    for (int length = 0; length < whole.length; length++) {
      assertThat(Publication.parse(Arrays.copyOf(whole, length))).as("%d bytes", length).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s3e-usage 2\nscanned 1\ncapacity 2\nbytes 3\nend\n",
        "s3e-usage 1\nscanned x\ncapacity 2\nbytes 3\nend\n",
        "s3e-usage 1\nscanned 1\nbytes 2\ncapacity 3\nend\n",
        "s3e-usage 1\nscanned 1\ncapacity 2\nbytes 3\nowner a\nend\n",
        "s3e-usage 1\nscanned 1\ncapacity 2\nbytes 3\nowner a b\nend\n",
        "s3e-usage 1\nscanned 1\ncapacity 2\nbytes 3\nother a 1\nend\n",
        "\0\0\0\0\0\0\0\0"
      })
  void anythingElseIsNone(String text) {
    assertThat(Publication.parse(text.getBytes(StandardCharsets.US_ASCII))).isNull();
  }
}
