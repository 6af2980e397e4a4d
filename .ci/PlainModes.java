import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Gives all entries of the jars in a directory the modes 0644 and 0755: {@code java PlainModes.java DIRECTORY}.
 *
 * <p>The plugins that make jars write the modes that files have on disk, which the umask of who builds has made, and none can be told otherwise. Only
 * the central directory of a jar has them; it is changed in place, nothing moves.
 */
final class PlainModes {
  private static final int END = 0x06054b50;
  private static final int END_LENGTH = 22;
  private static final int HEADER = 0x02014b50;
  private static final int HEADER_LENGTH = 46;

  private PlainModes() {}

  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> jars = files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
      for (Path jar : jars) {
        byte[] bytes = Files.readAllBytes(jar);
        change(jar, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
        Files.write(jar, bytes);
      }
    }
  }

  private static void change(Path jar, ByteBuffer bytes) throws IOException {
    int end = bytes.limit() - END_LENGTH;
    while (end >= 0 && bytes.getInt(end) != END) {
      end--;
    }
    if (end < 0) {
      throw new IOException(jar + " is no jar: it has no central directory");
    }
    int entries = Short.toUnsignedInt(bytes.getShort(end + 10));
    int at = bytes.getInt(end + 16);
    for (int n = 0; n < entries; n++) {
      if (bytes.getInt(at) != HEADER) {
        throw new IOException(jar + ": entry " + n + " of " + entries + " has no header at " + at);
      }
      int name = Short.toUnsignedInt(bytes.getShort(at + 28));
      int extra = Short.toUnsignedInt(bytes.getShort(at + 30));
      int comment = Short.toUnsignedInt(bytes.getShort(at + 32));
      boolean folder = new String(bytes.array(), at + HEADER_LENGTH, name, UTF_8).endsWith("/");
      // Made on Unix, or the modes would mean nothing; then the modes, and MS-DOS's bit of directories.
      bytes.put(at + 5, (byte) 3);
      bytes.putInt(at + 38, folder ? 0_040755 << 16 | 0x10 : 0_100644 << 16);
      at += HEADER_LENGTH + name + extra + comment;
    }
  }
}
