// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.util.JsonSerialization;

/**
 * The facts of one job as the bytes of a file: one JSON object, {@code
 * {"format":1,"sha256":"…","history":{…}}}, whose checksum is that of the text of {@code history}.
 * By Hadoop's JSON, which is where Hadoop is, under whatever name. At most {@value #MOST_BYTES}
 * bytes.
 */
final class HistoryFile {
  static final int MOST_BYTES = 1 << 20;

  /** Raised where a field changes its meaning; fields that are added are ignored by older ones. */
  static final int FORMAT = 1;

  private static final Pattern TEXT =
      Pattern.compile(
          "\\{\"format\":(\\d{1,9}),\"sha256\":\"([0-9a-f]{64})\",\"history\":(.*)\\}\\s*",
          Pattern.DOTALL);

  private static final JsonSerialization<JobFacts> JSON =
      new JsonSerialization<>(JobFacts.class, false, false);

  private HistoryFile() {}

  /** As many tables as fit, those that were read last; without any, as many runs. */
  static byte[] encode(JobFacts facts) throws IOException {
    byte[] whole = bytes(facts);
    if (whole.length <= MOST_BYTES) {
      return whole;
    }
    JobFacts withoutTables = facts.withLatestTables(0);
    return bytes(withoutTables).length > MOST_BYTES
        ? latest(facts.runs().size(), withoutTables::withLatestRuns)
        : latest(facts.tables().size(), facts::withLatestTables);
  }

  /** The most of {@code count} parts that fit, by halves: a part more is never fewer bytes. */
  private static byte[] latest(int count, IntFunction<JobFacts> cut) throws IOException {
    byte[] fitting = bytes(cut.apply(0));
    int fits = 0;
    int most = count;
    while (fits < most) {
      int middle = (fits + most + 1) / 2;
      byte[] tried = bytes(cut.apply(middle));
      if (tried.length <= MOST_BYTES) {
        fitting = tried;
        fits = middle;
      } else {
        most = middle - 1;
      }
    }
    return fitting;
  }

  private static byte[] bytes(JobFacts facts) throws IOException {
    return text(JSON.toJson(facts)).getBytes(UTF_8);
  }

  static String text(String history) {
    return "{\"format\":"
        + FORMAT
        + ",\"sha256\":\""
        + checksum(history)
        + "\",\"history\":"
        + history
        + "}\n";
  }

  private static String checksum(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }

  /**
   * @throws IOException if it is damaged, or of another format; says which
   */
  static JobFacts decode(byte[] bytes) throws IOException {
    Matcher matcher = TEXT.matcher(new String(bytes, UTF_8));
    if (!matcher.matches()) {
      throw new IOException("it is damaged: no history is in it");
    }
    if (Integer.parseInt(matcher.group(1)) != FORMAT) {
      throw new IOException("its format is " + matcher.group(1) + ", and not " + FORMAT);
    }
    String history = matcher.group(3);
    if (!checksum(history).equals(matcher.group(2))) {
      throw new IOException("it is damaged: its checksum is another");
    }
    // As a stream, since Hadoop logs a text that is no JSON, all of it, as an error.
    JobFacts facts = JSON.fromJsonStream(new ByteArrayInputStream(history.getBytes(UTF_8)));
    if (facts == null) {
      throw new IOException("it is damaged: nothing is in it");
    }
    return facts;
  }
}
