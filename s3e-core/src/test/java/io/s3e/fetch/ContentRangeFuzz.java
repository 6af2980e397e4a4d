// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.client.GetRequest;
import io.s3e.client.ResponseHead;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.ReaderHabit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/**
 * Heads of answers, as lines: Content-Range, Content-Length, ETag, Content-Encoding. A head that is
 * accepted tells the range that was asked for, up to the object's end.
 */
public final class ContentRangeFuzz {
  private static final int BLOCK = 1 << 16;
  private static final long SIZE = 10L * BLOCK;
  private static final String ETAG = "\"tag\"";
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final ByteRange ASKED = new ByteRange(2 * BLOCK, 3 * BLOCK);

  private ContentRangeFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) {
    String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", -1);
    long length = -1;
    try {
      length = Math.max(-1, Long.parseLong(line(lines, 1)));
    } catch (NumberFormatException e) {
      length = -1;
    }
    String etag = lines.length > 2 ? lines[2] : ETAG;
    ResponseHead head =
        new ResponseHead(
            206, line(lines, 0), length, etag, null, lines.length > 3 ? lines[3] : null);
    ObjectHandle handle = handle();
    GetRequest request = new GetRequest(OBJECT, ASKED, ETAG, null, false, Map.of(), null);
    ByteRange body;
    try {
      body = ResponseCheck.check(request, head, handle);
    } catch (IOException e) {
      assertThat(handle.etag()).isEqualTo(ETAG);
      return;
    }
    assertThat(etag).isEqualTo(ETAG);
    assertThat(body).isEqualTo(ASKED);
    assertThat(handle.size()).isEqualTo(SIZE);
    // A header's value is what stands between white space and control characters.
    assertThat(head.contentRange().trim().toLowerCase(Locale.ROOT))
        .matches("bytes\\s+0*" + ASKED.start() + "-0*" + (ASKED.end() - 1) + "/[0-9]+");
    assertThat(length).isIn(-1L, ASKED.length());
  }

  private static String line(String[] lines, int number) {
    return lines.length > number ? lines[number] : "";
  }

  private static ObjectHandle handle() {
    BlockLayout layout = new BlockLayout(SIZE, BLOCK);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, BLOCK);
    ReadPlanner planner = new ReadPlanner(layout, ReadPolicy.ADAPTIVE, null, limits);
    return new ObjectHandle(
        ObjectVersion.identified(OBJECT, SIZE, ETAG, null),
        layout,
        Map.of(),
        null,
        StreamListener.NONE,
        (counter, amount) -> {},
        new ReaderProgress(planner.pattern(), new ReaderHabit()));
  }
}
