// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.s3e.spark.stages.SparkListenerS3EStage;
import org.apache.spark.util.kvstore.KVIndex;

/**
 * An event in the store of the History Server, which may be a file that outlives the server: the
 * tab is made from these, without reading the event log again.
 */
public final class StoredStage {
  /** The place of the event among those of its application; what the store looks for it by. */
  @KVIndex @JsonProperty final int number;

  @JsonProperty final SparkListenerS3EStage event;

  @JsonCreator
  StoredStage(
      @JsonProperty("number") int number, @JsonProperty("event") SparkListenerS3EStage event) {
    this.number = number;
    this.event = event;
  }
}
