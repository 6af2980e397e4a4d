// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

/**
 * One thing to change about reads, or a remark where not to look.
 *
 * @param topic what it is about
 * @param evidence what the counts say
 * @param change what to change
 * @param saving what that saves, by estimate from above; nothing for a remark
 */
public record Advice(Topic topic, String evidence, String change, Saving saving) {
  /** What counts alone tell. */
  public enum Topic {
    THROTTLED("the bucket throttles"),
    MEMORY_BUDGET("memory budget too small"),
    WASTED_PREFETCH("prefetched and never read"),
    NOT_S3("S3 is not the bottleneck");

    private final String title;

    Topic(String title) {
      this.title = title;
    }

    public String title() {
      return title;
    }
  }

  /** One sentence. */
  public String text() {
    return topic.title() + ": " + evidence + ": " + change;
  }
}
