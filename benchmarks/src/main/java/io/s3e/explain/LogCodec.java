// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.github.luben.zstd.ZstdInputStream;
import com.ning.compress.lzf.LZFInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import net.jpountz.lz4.LZ4BlockInputStream;
import org.xerial.snappy.SnappyInputStream;

/** How an event log is compressed: as Spark names it behind the last dot of the file. */
enum LogCodec {
  ZSTD {
    @Override
    InputStream open(InputStream file) throws IOException {
      // A log that is written still ends within a frame.
      return new ZstdInputStream(file).setContinuous(true);
    }
  },
  LZ4 {
    @Override
    InputStream open(InputStream file) {
      return LZ4BlockInputStream.newBuilder().withStopOnEmptyBlock(false).build(file);
    }
  },
  SNAPPY {
    @Override
    InputStream open(InputStream file) throws IOException {
      return new SnappyInputStream(file);
    }
  },
  LZF {
    @Override
    InputStream open(InputStream file) throws IOException {
      return new LZFInputStream(file);
    }
  },
  NONE {
    @Override
    InputStream open(InputStream file) {
      return file;
    }
  };

  /** What Spark puts behind the name of a log whose application has not ended. */
  static final String IN_PROGRESS = ".inprogress";

  /** The plain bytes. The caller closes them, and with them the file. */
  abstract InputStream open(InputStream file) throws IOException;

  /** The codec that the name of a log tells. */
  static LogCodec of(String fileName) {
    String name =
        fileName.toUpperCase(Locale.ROOT).replace(IN_PROGRESS.toUpperCase(Locale.ROOT), "");
    for (LogCodec codec : values()) {
      if (name.endsWith("." + codec.name())) {
        return codec;
      }
    }
    return NONE;
  }
}
