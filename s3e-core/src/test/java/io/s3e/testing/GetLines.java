// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The lines of an engine's GETs, read by a JSON parser when they are handed over: what a file would
 * have at least. Any thread.
 */
public final class GetLines implements GetSink {
  private final JsonMapper mapper = new JsonMapper();
  private final List<String> taken = new ArrayList<>();
  private boolean closed;

  /** A configuration of one engine, whose GETs are handed over here. */
  public ExplainConfig config() {
    return new ExplainConfig(true, () -> this);
  }

  @Override
  public synchronized void take(GetRecord get) {
    taken.add(get.json());
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  public synchronized boolean isClosed() {
    return closed;
  }

  /** All lines, in the order in which they were handed over. */
  public synchronized List<String> all() {
    return List.copyOf(taken);
  }

  /** The last line of each GET. */
  public Collection<JsonNode> last() {
    Map<Long, JsonNode> last = new LinkedHashMap<>();
    for (String line : all()) {
      JsonNode get = mapper.readTree(line);
      last.put(get.get("id").longValue(), get);
    }
    return last.values();
  }

  /** The sum of a figure of all GETs. */
  public long sum(String figure) {
    return last().stream().mapToLong(get -> get.get(figure).longValue()).sum();
  }
}
