// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the store's log tells of requests: operation, span and path, as S3A has them. */
class AuditSpansTest {
  private static final String KEY = "audited/file";
  private static final Path FILE = new Path("/" + KEY);
  private static final int SIZE = 300_000;
  private static final Pattern SPAN = Pattern.compile("/hadoop/1/(\\w+)/([^/]+)/.*[?&]p1=([^&]*)");

  private RecordingProxy proxy;
  private FileSystem fs;

  @BeforeEach
  void write() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    fs = S3AReads.open(S3AReads.small(S3AServer.s3e(proxy.endpoint())));
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(new byte[SIZE]);
    }
    proxy.clear();
  }

  @AfterEach
  void close() throws Exception {
    fs.close();
    proxy.close();
  }

  private List<Matcher> spans() {
    return proxy.requests().stream()
        .filter(request -> request.target().contains(KEY))
        .map(
            request ->
                request.headers().entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase("Referer"))
                    .map(header -> header.getValue())
                    .findAny()
                    .orElse(request + " without a span"))
        .map(SPAN::matcher)
        .peek(span -> assertThat(span.find()).as("%s", span).isTrue())
        .toList();
  }

  @Test
  void allRequestsOfAStreamHaveTheSpanOfItsOpening() throws Exception {
    try (FSDataInputStream in = fs.open(FILE)) {
      in.readFully(0, new byte[SIZE]);
    }
    List<Matcher> spans = spans();
    assertThat(spans).hasSizeGreaterThan(1);
    assertThat(spans).allMatch(span -> span.group(1).equals("op_open"));
    assertThat(spans.stream().map(span -> span.group(2)).distinct()).hasSize(1);
    assertThat(((IOStatisticsSource) fs).getIOStatistics().counters())
        .containsEntry("op_open", 1L)
        .containsEntry("op_get_file_status", 0L);
  }

  @Test
  void anAnnouncedFileIsNamedAsAReadOneIs() throws Exception {
    ((S3EFileSystem) fs).announce(FILE, SIZE);
    awaitTrue("its GET is sent", () -> !proxy.reads(KEY).isEmpty());
    assertThat(spans()).allMatch(span -> span.group(3).equals(KEY));
  }
}
