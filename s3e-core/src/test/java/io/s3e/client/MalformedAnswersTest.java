// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure.Effort;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileReply.Rewriter;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every fourth GET is answered with something that is no right answer: torn heads, lies about
 * range, length, total and version, chunks that do not add up, bytes too many or too few, floods of
 * headers. A read brings the right bytes or fails; it does neither hang nor end early.
 *
 * <p>The version is known from the open, and the first GET of each object is answered well: of a
 * store whose first answer lies consistently nobody can tell.
 */
@Timeout(180)
@Slow
class MalformedAnswersTest {
  /** For each client; 5,000 in all each night. */
  private static final int ANSWERS =
      Integer.getInteger("s3e.test.malformed.answers", 1_800) / EveryClient.values().length;

  /** For each client. */
  private static final int JUNK_READS =
      Integer.getInteger("s3e.test.junk.reads", 360) / EveryClient.values().length;

  /** Then the next bucket: a store that gives so many bad answers is asked more slowly. */
  private static final int OBJECTS_PER_BUCKET = 5;

  private static final int READERS = 6;
  private static final int SIZE = 11 * EngineOverServer.BLOCK + 4321;

  private final AtomicInteger answers = new AtomicInteger();
  private final AtomicInteger objects = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private final Map<String, Integer> repeats = new ConcurrentHashMap<>();

  /** What was wrong with the answers, by object. */
  private final Map<String, String> seen = new ConcurrentHashMap<>();

  /** One way in which an answer is none. */
  private enum Malformed {
    STATUS_LINE {
      @Override
      String head(String head, int length, Random random) {
        return oneOf(
                random,
                "HTTP/1.1 206",
                "HTTP/1.1 2O6 Partial",
                "HTTP/9.9 206 Partial",
                "ICY 206 OK",
                "",
                "HTTP/1.1 999 What",
                "HTTP/1.1 000 Nothing",
                "HTTP/1.1 -206 Minus",
                " HTTP/1.1 206 Space",
                "http/1.1 206 small",
                "HTTP/1.1 200 OK",
                "HTTP/1.1 204 No Content",
                "HTTP/1.1 304 Not Modified",
                "HTTP/1.1 101 Switching Protocols",
                "HTTP/1.0 206 Old",
                "HTTP/1.1 206206 Twice",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial")
            + head.substring(head.indexOf("\r\n"));
      }
    },
    RANGE {
      @Override
      String head(String head, int length, Random random) {
        long a = random.nextInt(SIZE);
        long b = a + random.nextInt(2 * EngineOverServer.BLOCK);
        return with(
            head,
            "Content-Range",
            oneOf(
                random,
                null,
                "",
                "bytes " + a + "-" + b + "/" + SIZE,
                "bytes " + b + "-" + a + "/" + SIZE,
                "bytes 0-" + (length - 1) + "/" + length,
                "bytes 0-0/1",
                "bytes */" + SIZE,
                "bytes *",
                "bytes=0-" + (length - 1) + "/" + SIZE,
                "items 0-" + (length - 1) + "/" + SIZE,
                "bytes 0-18446744073709551616/18446744073709551617",
                "bytes -1-" + length + "/" + SIZE,
                "bytes 0x0-0xff/0x100",
                "bytes 0-" + Long.MAX_VALUE + "/" + Long.MAX_VALUE,
                "\u00e9".repeat(3000)));
      }
    },
    TOTAL {
      @Override
      String head(String head, int length, Random random) {
        return head.replace(
            "/" + SIZE + "\r\n",
            oneOf(
                random,
                "/" + random.nextInt(SIZE) + "\r\n",
                "/" + (SIZE - 1) + "\r\n",
                "/" + (SIZE + 1) + "\r\n",
                "/" + (SIZE + 1_000_000) + "\r\n",
                "/0\r\n",
                "/-1\r\n",
                "/*\r\n",
                "/\r\n",
                "\r\n"));
      }
    },
    LENGTH {
      @Override
      String head(String head, int length, Random random) {
        return with(
            head,
            "Content-Length",
            oneOf(
                random,
                null,
                "",
                "0",
                "-1",
                "abc",
                "+" + length,
                length + ", " + length,
                length + ", 7",
                length + ".0",
                "0x" + Integer.toHexString(length),
                String.valueOf(random.nextInt(length + 1)),
                String.valueOf(length + 1 + random.nextInt(100_000)),
                "99999999999999999999999"));
      }
    },
    LENGTH_TWICE {
      @Override
      String head(String head, int length, Random random) {
        return before(head, "Content-Length: " + random.nextInt(2 * length + 1));
      }
    },
    ETAG {
      @Override
      String head(String head, int length, Random random) {
        return with(
            head,
            "ETag",
            oneOf(
                random,
                null,
                "",
                "\"\"",
                "\"other\"",
                "unquoted",
                "W/\"weak\"",
                "\"" + "e".repeat(9000) + "\"",
                "\"\u00e4\u0001\"",
                "\"open"));
      }
    },
    ETAG_TWICE {
      @Override
      String head(String head, int length, Random random) {
        return before(head, "ETag: \"other\"");
      }
    },
    ENCODING {
      @Override
      String head(String head, int length, Random random) {
        return before(
            head,
            oneOf(
                random,
                "Content-Encoding: gzip",
                "Content-Encoding: aws-chunked",
                "Transfer-Encoding: chunked",
                "Transfer-Encoding: gzip, chunked",
                "Transfer-Encoding: nonsense",
                "Transfer-Encoding: identity",
                "Content-Type: multipart/byteranges; boundary=x"));
      }
    },
    FLOOD {
      @Override
      String head(String head, int length, Random random) {
        return before(
            head,
            oneOf(
                random,
                "x-flood: y\r\n".repeat(9_999) + "x-flood: y",
                "x-long: " + "y".repeat(1 << 20),
                "x".repeat(70_000) + ": y",
                "x-folded: a\r\n b\r\n\tc",
                "no colon here",
                ": no name",
                "x-nul: a\u0000b",
                "x-cr: a\rb",
                "x-lf: a\nb"));
      }
    },
    FLIPPED_HEAD {
      @Override
      String head(String head, int length, Random random) {
        StringBuilder flipped = new StringBuilder(head);
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          int at = random.nextInt(head.length());
          char other = (char) random.nextInt(' ', 256);
          // The head ends where it did: behind another end stand other bytes, as if sent so.
          if (head.charAt(at) >= ' ') {
            flipped.setCharAt(at, other);
          }
        }
        return flipped.toString();
      }
    },
    TORN_HEAD {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        return Arrays.copyOf(latin(head), random.nextInt(head.length()));
      }
    },
    TORN_BODY {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        return join(latin(head), Arrays.copyOf(body, random.nextInt(body.length)));
      }
    },
    LONG_BODY {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        byte[] more = new byte[random.nextInt(1, 100_000)];
        random.nextBytes(more);
        return join(latin(head), body, more);
      }
    },
    /** What a client could take for the answer to its next request. */
    SECOND_ANSWER {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        byte[] wrong = new byte[body.length];
        return join(latin(head), body, latin(head), wrong);
      }
    },
    CHUNKS {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        String chunked = with(head, "Transfer-Encoding", "chunked");
        if (random.nextBoolean()) {
          chunked = with(chunked, "Content-Length", null);
        }
        String size = Integer.toHexString(body.length);
        byte[] begun = join(latin(chunked + size + "\r\n"), body);
        return switch (random.nextInt(9)) {
          case 0 -> join(begun, latin("\r\n0\r\n\r\n"));
          case 1 -> join(begun, latin("\r\n0\r\nx-trailer: y\r\nETag: \"late\"\r\n\r\n"));
          case 2 -> begun;
          case 3 -> join(latin(chunked + "ffffffffffffffffff\r\n"), body);
          case 4 -> join(latin(chunked + "-5\r\n"), body);
          case 5 -> join(latin(chunked + "zz\r\n"), body);
          case 6 -> join(latin(chunked + size + ";ext=\"a\r\n"), body, latin("\r\n0\r\n\r\n"));
          case 7 -> join(latin(chunked + "1\r\n"), body, latin("\r\n0\r\n\r\n"));
          default -> join(latin(chunked + "7fffffffffffffff\r\n"), body);
        };
      }
    },
    WHOLE_OBJECT {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        String whole = with(head, "Content-Length", String.valueOf(SIZE));
        if (random.nextBoolean()) {
          whole = with(whole, "Content-Range", null).replace(" 206 ", " 200 ");
        }
        byte[] all = new byte[SIZE];
        random.nextBytes(all);
        return join(latin(whole), all);
      }
    },
    ERROR_DOCUMENT {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        String document = Fault.document("SlowDown", "x".repeat(random.nextInt(5000)), "id");
        String torn = document.substring(0, random.nextInt(document.length()));
        String text =
            oneOf(
                random,
                torn,
                "<Error><Code>" + "<Code>".repeat(1000),
                "<!DOCTYPE e [<!ENTITY a \"b\"><!ENTITY c \"&a;&a;&a;\">]><Error>&c;</Error>",
                "{\"code\": 503}",
                "\u0000\u0001\u0002");
        int status = List.of(500, 502, 503, 504, 408, 429).get(random.nextInt(6));
        String line = "HTTP/1.1 " + status + " Broken\r\nContent-Type: application/xml\r\n";
        int announced = text.length() + (random.nextBoolean() ? 0 : random.nextInt(500));
        return latin(line + "Content-Length: " + announced + "\r\n\r\n" + text);
      }
    },
    NO_HTTP {
      @Override
      byte[] rewrite(String head, byte[] body, Random random) {
        byte[] noise = new byte[random.nextInt(1, 3000)];
        random.nextBytes(noise);
        return noise;
      }
    };

    /** The head in place of an honest one, before the right body. */
    String head(String head, int length, Random random) {
      return head;
    }

    byte[] rewrite(String head, byte[] body, Random random) {
      return join(latin(head(head, body.length, random)), body);
    }

    private static String oneOf(Random random, String... texts) {
      return texts[random.nextInt(texts.length)];
    }

    /** The head with another value of a header; without it for null. */
    private static String with(String head, String name, String value) {
      StringBuilder changed = new StringBuilder();
      for (String line : head.split("\r\n")) {
        if (!line.startsWith(name + ":")) {
          changed.append(line).append("\r\n");
        }
      }
      if (value != null) {
        changed.append(name).append(": ").append(value).append("\r\n");
      }
      return changed.append("\r\n").toString();
    }

    /** The head with lines before its headers. */
    private static String before(String head, String lines) {
      int headers = head.indexOf("\r\n") + 2;
      return head.substring(0, headers) + lines + "\r\n" + head.substring(headers);
    }

    private static byte[] latin(String text) {
      return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] join(byte[]... parts) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (byte[] part : parts) {
        all.writeBytes(part);
      }
      return all.toByteArray();
    }
  }

  @ParameterizedTest
  @EnumSource(EveryClient.class)
  void rightBytesOrAnError(EveryClient client) throws Exception {
    long seed = Seed.ofBuilds();
    try (EngineOverServer s3e = new EngineOverServer(client, Duration.ofSeconds(15))) {
      s3e.server.decide(request -> answer(request, seed));
      s3e.run(
          READERS,
          reader -> {
            while (answers.get() < ANSWERS) {
              read(s3e, seed);
            }
          });
    }
    System.out.printf("%s: %s of %s reads failed%n", client, failures, objects);
    assertThat(failures.get()).as("failed reads").isLessThan(objects.get() * 3 / 4);
  }

  /**
   * Every third body is another one under the right head, of another length and complete by HTTP,
   * however its end is told.
   */
  @ParameterizedTest
  @EnumSource(EveryClient.class)
  void aBodyOfAnotherLengthIsNeverData(EveryClient client) throws Exception {
    long seed = Seed.ofBuilds();
    try (EngineOverServer s3e = EngineOverServer.withLongGets(client, Duration.ofSeconds(60))) {
      s3e.server.decide(
          request -> {
            int number = answers.incrementAndGet();
            return number % 3 == 0 ? junk(request, new Random(seed + number)) : Fault.none();
          });
      s3e.run(
          READERS,
          reader -> {
            while (objects.get() < JUNK_READS) {
              read(s3e, seed);
            }
          });
    }
    System.out.printf("%s: %s of %s reads failed%n", client, failures, objects);
    // By chance, one in some thousand GETs meets eight such bodies in a row.
    assertThat(failures.get()).as("failed reads").isLessThanOrEqualTo(objects.get() / 20);
  }

  private Fault junk(HostileS3Server.Request request, Random random) {
    String[] range = request.header("Range").substring("bytes=".length()).split("-");
    int asked = 1 + Integer.parseInt(range[1]) - Integer.parseInt(range[0]);
    List<Integer> lengths =
        List.of(0, 60, 70_000, 140_000, random.nextInt(asked), asked - 1, asked + 1);
    int length = lengths.get(random.nextInt(lengths.size()));
    Fault junk = Fault.junk(length == asked ? asked + 60 : length);
    String end = List.of("told", "chunked", "closed").get(random.nextInt(3));
    seen.merge(
        request.target(),
        length + " bytes, " + end + ", for " + request.header("Range"),
        (a, b) -> a + "; " + b);
    return switch (end) {
      case "chunked" -> junk.and(Fault.chunked());
      case "closed" -> junk.and(Fault.untilClose());
      default -> junk;
    };
  }

  /** What is no answer to any request is asked for a few times, and then an error. */
  @ParameterizedTest
  @EnumSource(EveryClient.class)
  void whatIsNeverAnAnswerIsAnErrorSoon(EveryClient client) throws Exception {
    Map<String, Fault> never =
        Map.of(
            "204",
            Fault.refusal(204, Map.of(), ""),
            "an empty body",
            Fault.junk(0),
            "an empty body in chunks",
            Fault.junk(0).and(Fault.chunked()),
            "an empty body without length",
            Fault.junk(0).and(Fault.untilClose()),
            "a short body",
            Fault.junk(60),
            "a short body in chunks",
            Fault.junk(60).and(Fault.chunked()),
            "a foreign encoding",
            Fault.header("Content-Encoding", "gzip"));
    try (EngineOverServer s3e = new EngineOverServer(client, Duration.ofSeconds(60))) {
      for (Map.Entry<String, Fault> one : never.entrySet()) {
        ObjectRef object = new ObjectRef("bucket", one.getKey());
        OpenOptions options =
            OpenOptions.DEFAULTS
                .withSize(SIZE)
                .withVersion(s3e.server.put(object, new byte[SIZE]), null)
                .withPolicy(ReadPolicy.RANDOM);
        s3e.server.always(one.getValue());
        s3e.server.forgetRequests();
        try (S3EInputStream in = s3e.engine.open(object, options)) {
          assertThatThrownBy(() -> in.readFullyAt(0, new byte[1], 0, 1))
              .as(one.getKey())
              .isInstanceOf(IOException.class)
              .satisfies(
                  error -> {
                    RequestFailure last = (RequestFailure) error.getCause();
                    assertThat(last.kind())
                        .as(one.getKey())
                        .isEqualTo(RequestFailure.Kind.REJECTED);
                    assertThat(last.effort().attempts()).isEqualTo(8);
                    assertThat(last.effort().end()).isEqualTo(Effort.End.FAILURE);
                  });
        }
        // One more finds a foreign encoding out, and the CRT begins to repeat what has failed.
        assertThat(s3e.server.gets()).as(one.getKey()).hasSizeBetween(8, 2 * 9);
      }
    }
  }

  private void read(EngineOverServer s3e, long seed) throws Exception {
    int number = objects.incrementAndGet();
    ObjectRef object = new ObjectRef("bucket-" + number / OBJECTS_PER_BUCKET, "object-" + number);
    // Another version for each: an answer that belongs to another request has to differ in its
    // head.
    byte[] content = MemoryObjectClient.bytes(SIZE, seed + number);
    String etag = s3e.server.put(object, content);
    Random random = new Random(seed + number);
    ReaderKind kind = ReaderKind.values()[random.nextInt(ReaderKind.values().length)];
    OpenOptions options =
        OpenOptions.DEFAULTS
            .withSize(SIZE)
            .withVersion(etag, null)
            .withPolicy(kind == ReaderKind.SEQUENTIAL ? ReadPolicy.SEQUENTIAL : ReadPolicy.RANDOM);
    try (S3EInputStream in = s3e.engine.open(object, options)) {
      in.readFullyAt(0, new byte[1], 0, 1);
      kind.read(in, content, random);
    } catch (IOException | ExecutionException e) {
      failures.incrementAndGet();
    } catch (AssertionError e) {
      String answered = seen.get("/" + object.bucket() + "/" + object.key());
      throw new AssertionError(kind + " of " + object + ", seed " + seed + ", " + answered, e);
    }
  }

  /** The same for the same seed, object, range and repetition, in whatever order they come. */
  private Fault answer(HostileS3Server.Request request, long seed) {
    int ofObject = repeats.merge(request.target(), 1, Integer::sum);
    String what = request.target() + " " + request.header("Range");
    int repeat = repeats.merge(what, 1, Integer::sum);
    Random random = new Random(seed ^ 31L * what.hashCode() + repeat);
    if (ofObject == 1 || random.nextInt(4) > 0) {
      return Fault.none();
    }
    answers.incrementAndGet();
    Malformed kind = Malformed.values()[random.nextInt(Malformed.values().length)];
    seen.merge(request.target(), kind + " of " + request.header("Range"), (a, b) -> a + ", " + b);
    Rewriter rewriter = (head, body) -> kind.rewrite(head, body, random);
    return Fault.rewritten(rewriter);
  }
}
