// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.fetch.GetRecord;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * One GET that was slower than others of its stage, as it stood at the end of its task. The
 * components are those of the lines of docs/TROUBLESHOOTING.md and fields of {@link
 * SparkListenerS3EStage} in event logs, so their names stay.
 *
 * @param executorId Spark's
 * @param label the stage and the task that it was sent for
 * @param time when it began, ISO 8601, UTC
 * @param start offset of the first byte that was asked for
 * @param end offset after the last byte
 * @param reason why it was sent
 * @param attempt which one in a row without a new block, from 1
 * @param state how far it came, or how it ended
 * @param answeredMillis from its start to the head of the answer; null if none was accepted
 * @param tookMillis from its start to its end; null if it had not ended
 * @param received bytes of the body that came
 * @param requestId S3's name of the request
 * @param failure why it failed
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SlowGet(
    @Nullable String executorId,
    @Nullable String label,
    String time,
    String bucket,
    String key,
    long start,
    long end,
    String reason,
    int attempt,
    String state,
    @Nullable Double answeredMillis,
    @Nullable Double tookMillis,
    long received,
    @Nullable String requestId,
    @Nullable String failure)
    implements Serializable {
  private static final long serialVersionUID = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  static SlowGet of(GetRecord get, String executorId) {
    try {
      SlowGet read = JSON.readValue(get.json(), SlowGet.class);
      return new SlowGet(
          executorId,
          read.label,
          read.time,
          read.bucket,
          read.key,
          read.start,
          read.end,
          read.reason,
          read.attempt,
          read.state,
          read.answeredMillis,
          read.tookMillis,
          read.received,
          read.requestId,
          read.failure);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A GET tells no JSON of itself: " + get, e);
    }
  }

  /** How long it took, as far as it came: to its end, else to its answer, else nothing is known. */
  public double millis() {
    return tookMillis != null ? tookMillis : answeredMillis != null ? answeredMillis : 0;
  }
}
