// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import com.ning.compress.lzf.LZFOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import net.jpountz.lz4.LZ4BlockOutputStream;
import org.xerial.snappy.SnappyOutputStream;

/**
 * The event log of a real run, as {@code SparkEventLogsTest} of {@code benchmarks/engines} has
 * written it among the resources, without what is of the machine.
 */
final class RecordedLog {
  private final byte[] lines;

  private RecordedLog(byte[] lines) {
    this.lines = lines;
  }

  static RecordedLog of(String name) throws IOException {
    try (InputStream file =
            Objects.requireNonNull(
                RecordedLog.class.getResourceAsStream("/event-logs/" + name + ".zstd"), name);
        InputStream in = new ZstdInputStream(file)) {
      return new RecordedLog(in.readAllBytes());
    }
  }

  /** The explanations of all logs at a path; each can be opened. */
  static List<Explanation> explained(Path path, Explanation.Options options) throws IOException {
    List<Explanation> all = new ArrayList<>();
    assertThat(Explanation.each(path.toString(), options, all::add)).isEmpty();
    return all;
  }

  /** The events of as many such applications, one after the other, as if they were one's. */
  RecordedLog times(int count) {
    byte[] all = new byte[lines.length * count];
    for (int i = 0; i < count; i++) {
      System.arraycopy(lines, 0, all, i * lines.length, lines.length);
    }
    return new RecordedLog(all);
  }

  byte[] lines() {
    return lines.clone();
  }

  /** Writes it as Spark does by that codec, and returns the file. */
  Path write(Path directory, LogCodec codec) throws IOException {
    String suffix =
        codec == LogCodec.NONE ? "" : "." + codec.name().toLowerCase(java.util.Locale.ROOT);
    Path file = directory.resolve("app-1" + suffix);
    try (OutputStream out = compressed(Files.newOutputStream(file), codec)) {
      out.write(lines);
    }
    return file;
  }

  private static OutputStream compressed(OutputStream file, LogCodec codec) throws IOException {
    return switch (codec) {
      case ZSTD -> new ZstdOutputStream(file);
      case LZ4 -> new LZ4BlockOutputStream(file);
      case SNAPPY -> new SnappyOutputStream(file);
      case LZF -> new LZFOutputStream(file);
      case NONE -> file;
    };
  }
}
