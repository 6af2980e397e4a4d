// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.HostileS3Server.IfMatch;
import io.s3e.testing.StoredContent;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** An object changes when a reader has come to its middle. */
final class Changes {
  private static final long SIZE = 128L << 20;
  private static final int PIECE_BYTES = 256 << 10;
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "changing");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** What becomes of the object. */
  enum Change {
    REPLACED(StoredContent.generated(SIZE, 2)),
    SHRUNK(StoredContent.generated(SIZE / 3, 2)),
    GROWN(StoredContent.generated(2 * SIZE, 2)),
    REUPLOADED(StoredContent.generated(SIZE, 1)),
    DELETED(null);

    private final StoredContent content;

    Change(StoredContent content) {
      this.content = content;
    }

    void happen(HostileS3Server server) {
      if (content == null) {
        server.delete(OBJECT);
      } else {
        server.put(OBJECT, content);
      }
    }
  }

  /** What {@code fs.s3a.change.detection.mode} is set to. */
  enum Mode {
    SERVER,
    CLIENT,
    WARN,
    NONE;

    /** The modes in which the caller asks for the bytes that the store has, of whatever version. */
    boolean mayMix() {
      return this == WARN || this == NONE;
    }
  }

  /** A way to read, half and half. */
  enum Style {
    READ,
    PREAD,
    VECTORED
  }

  /** One change under one reader. */
  record Case(Change change, IfMatch ifMatch, Mode mode, Style style) {
    static List<Case> all() {
      List<Case> all = new ArrayList<>();
      for (Change change : Change.values()) {
        for (IfMatch ifMatch : IfMatch.values()) {
          for (Mode mode : Mode.values()) {
            for (Style style : Style.values()) {
              all.add(new Case(change, ifMatch, mode, style));
            }
          }
        }
      }
      return all;
    }
  }

  /** How a case ended, and what was seen. */
  record Ended(Verdict verdict, String detail) {}

  private Changes() {}

  /** Cases by their verdict, a line for each change and mode. */
  static List<Figures> figures(Subject subject) throws Exception {
    Map<String, Figures> lines = new TreeMap<>();
    Map<String, Map<String, Integer>> counts = new TreeMap<>();
    for (Case changed : Case.all()) {
      String line =
          changed.change() + ", If-Match " + changed.ifMatch() + ", mode " + changed.mode();
      Ended ended = run(subject, changed);
      String kind =
          switch (ended.verdict()) {
            case CLEAR_ERROR -> ended.detail().split("[: ]", 2)[0].replaceAll(".*\\.", "");
            case WRONG_BYTES -> ended.detail().startsWith("end at") ? "SHORT" : "MIXED";
            default -> ended.verdict().name();
          };
      counts.computeIfAbsent(line, key -> new TreeMap<>()).merge(kind, 1, Integer::sum);
      lines.put(
          line,
          new Figures(Group.CHANGES.key(), line, subject)
              .add("ends of " + Style.values().length, counts.get(line).toString()));
    }
    return List.copyOf(lines.values());
  }

  static Ended run(Subject subject, Case changed) throws Exception {
    StoredContent before = StoredContent.generated(SIZE, 1);
    try (HostileS3Server server = HostileS3Server.startApart()) {
      server.put(OBJECT, before);
      server.ifMatch(changed.ifMatch());
      Configuration conf = subject.configuration(server.endpoint());
      conf.set("fs.s3a.change.detection.mode", changed.mode().name().toLowerCase(Locale.ROOT));
      FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + OBJECT.bucket()), conf);
      try {
        LimitedJob.run(
            changed.toString(),
            LIMIT,
            () -> {
              try (FSDataInputStream in = fs.open(new Path("/" + OBJECT.key()))) {
                read(in, before, 0, changed.style());
                changed.change().happen(server);
                read(in, before, SIZE / 2, changed.style());
              }
              return null;
            });
        return new Ended(Verdict.RIGHT, "");
      } catch (WrongBytesException e) {
        return new Ended(Verdict.WRONG_BYTES, e.getMessage());
      } catch (TimeoutException e) {
        return new Ended(Verdict.HANG, "");
      } catch (Exception e) {
        return new Ended(Verdict.CLEAR_ERROR, e.toString());
      } finally {
        LimitedJob.close(fs);
      }
    }
  }

  /** Half of the object from there on: all of it, or every eighth piece. */
  private static void read(FSDataInputStream in, StoredContent content, long from, Style style)
      throws Exception {
    byte[] piece = new byte[PIECE_BYTES];
    long end = from + SIZE / 2;
    switch (style) {
      case READ -> {
        for (long at = from; at < end; ) {
          int count = in.read(piece, 0, (int) Math.min(piece.length, end - at));
          if (count < 0) {
            throw new WrongBytesException("end at " + at + " of " + SIZE);
          }
          ReadStyle.check(content, at, piece, count);
          at += count;
        }
        if (end == SIZE && in.read() >= 0) {
          throw new WrongBytesException("bytes behind the end");
        }
      }
      case PREAD -> {
        for (long at = from; at < end; at += 8 * PIECE_BYTES) {
          in.readFully(at, piece);
          ReadStyle.check(content, at, piece, piece.length);
        }
      }
      case VECTORED -> {
        List<FileRange> ranges = new ArrayList<>();
        for (long at = from; at < end; at += 8 * PIECE_BYTES) {
          ranges.add(FileRange.createFileRange(at, PIECE_BYTES));
        }
        in.readVectored(ranges, ByteBuffer::allocate);
        for (FileRange range : ranges) {
          ReadStyle.check(content, range.getOffset(), ReadStyle.join(range));
        }
      }
    }
  }
}
