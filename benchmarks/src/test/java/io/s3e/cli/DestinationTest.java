// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the file that a download replaces. */
class DestinationTest {
  private static final byte[] CONTENT = {1, 2, 3};

  @TempDir private Path temp;

  private static void replace(Path file) throws IOException {
    try (Destination destination = Destination.file(file, true)) {
      int count = destination.channel().write(ByteBuffer.wrap(CONTENT));
      assertThat(count).isEqualTo(CONTENT.length);
      assertThat(destination.label()).isEqualTo(file.toString());
      destination.commit();
    }
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }

  @Test
  void aLinkStaysOneAndItsFileIsReplaced() throws IOException {
    Path elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
    Path real = Files.createFile(elsewhere.resolve("real"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), Path.of("elsewhere", "real"));

    try (Destination destination = Destination.file(link, true)) {
      assertThat(destination.channel().isOpen()).isTrue();
      assertThat(filesIn(elsewhere)).as("the temporary file lies beside the real one").hasSize(2);
    }
    replace(link);

    assertThat(link).isSymbolicLink();
    assertThat(real).hasBinaryContent(CONTENT);
    assertThat(filesIn(elsewhere)).containsExactly(real);
  }

  @Test
  void theOldFilesPermissionsAreTheNewOnes() throws IOException {
    // Wider than any mask leaves them, narrower, and for nobody to write.
    for (String permissions : List.of("rwxrwxrwx", "rw-------", "r--r-----")) {
      Path file = Files.createFile(temp.resolve(permissions));
      var unused =
          Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));

      replace(file);

      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo(permissions);
      assertThat(file).hasBinaryContent(CONTENT);
    }
  }

  @Test
  void nobodyElseReadsHalfOfAFileThatIsTheOwners() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    var unused = Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

    try (Destination destination = Destination.file(file, true)) {
      assertThat(destination.channel().isOpen()).isTrue();
      for (Path each : filesIn(temp)) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(each)))
            .isEqualTo("rw-------");
      }
    }
  }
}
