// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.github.luben.zstd.ZstdInputStream;
import com.ning.compress.lzf.LZFInputStream;
import java.io.IOException;
import java.io.InputStream;
import net.jpountz.lz4.LZ4BlockInputStream;
import org.xerial.snappy.SnappyInputStream;

/** How an event log is compressed: as Spark names it behind the last dot, but for what follows. */
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

  /** What Spark puts behind the name of a part of a rolling log that holds those before it. */
  static final String COMPACTED = ".compact";

  /** The plain bytes. The caller closes them, and with them the file. */
  abstract InputStream open(InputStream file) throws IOException;

  /** The codec that the name of a log tells. */
  static LogCodec of(String fileName) {
    String name = without(without(fileName, COMPACTED), IN_PROGRESS);
    for (LogCodec codec : values()) {
      String ending = "." + codec.name();
      if (name.regionMatches(true, name.length() - ending.length(), ending, 0, ending.length())) {
        return codec;
      }
    }
    return NONE;
  }

  private static String without(String name, String ending) {
    return name.endsWith(ending) ? name.substring(0, name.length() - ending.length()) : name;
  }
}
