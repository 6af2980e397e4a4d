package io.s3e.disk;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the janitor tells all processes after a pass: the file {@code usage} of an instance.
 *
 * <pre>
 * s3e-usage 1
 * scanned &lt;ms since 1970&gt;
 * capacity &lt;bytes&gt;
 * bytes &lt;bytes&gt;
 * owner &lt;id&gt; &lt;bytes it may write&gt;      (one line each)
 * end
 * </pre>
 *
 * @param scannedMillis when the janitor began to look: {@code bytes} has all that was there then,
 *     and perhaps some of what came later
 * @param capacityBytes the most that the instance may hold
 * @param bytes what it holds
 * @param grants what each living process may write, counted from {@code scannedMillis}
 */
record Publication(long scannedMillis, long capacityBytes, long bytes, Map<String, Long> grants) {
  /** Longer than that of any number of processes that one host runs, in bytes. */
  static final int MAX_BYTES = 256 << 10;

  private static final String FIRST = "s3e-usage 1";

  Publication {
    grants = Map.copyOf(grants);
  }

  byte[] toBytes() {
    StringBuilder text = new StringBuilder(FIRST).append('\n');
    text.append("scanned ").append(scannedMillis).append('\n');
    text.append("capacity ").append(capacityBytes).append('\n');
    text.append("bytes ").append(bytes).append('\n');
    grants.forEach(
        (owner, grant) ->
            text.append("owner ").append(owner).append(' ').append(grant).append('\n'));
    return text.append("end\n").toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** Null if that is not a whole publication. */
  static @Nullable Publication parse(byte[] content) {
    String[] lines = new String(content, StandardCharsets.US_ASCII).split("\n", -1);
    int last = lines.length - 2;
    if (last < 4 || !lines[0].equals(FIRST) || !lines[last].equals("end")) {
      return null;
    }
    try {
      Map<String, Long> grants = new LinkedHashMap<>();
      for (int i = 4; i < last; i++) {
        String[] words = lines[i].split(" ", -1);
        if (words.length != 3 || !words[0].equals("owner")) {
          return null;
        }
        grants.put(words[1], Long.parseLong(words[2]));
      }
      return new Publication(
          number(lines[1], "scanned "),
          number(lines[2], "capacity "),
          number(lines[3], "bytes "),
          grants);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static long number(String line, String name) {
    return Long.parseLong(line.startsWith(name) ? line.substring(name.length()) : "");
  }
}
