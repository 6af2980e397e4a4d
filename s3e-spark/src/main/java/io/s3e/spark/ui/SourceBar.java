// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.spark.stages.ReadCounts;
import java.util.List;
import java.util.Locale;

/**
 * Where bytes came from, as a bar of three parts and as words. The parts are bytes that were moved:
 * those from S3 have in them what was prefetched and never read.
 */
record SourceBar(List<Part> parts) {
  /** The places that bytes come from, the nearest first. */
  enum Source {
    MEMORY("memory"),
    DISK("local disk"),
    S3("S3");

    final String text;

    Source(String text) {
      this.text = text;
    }

    String css() {
      return "s3e-" + name().toLowerCase(Locale.ROOT);
    }
  }

  record Part(Source source, long bytes) {}

  static SourceBar of(ReadCounts reads) {
    return new SourceBar(
        List.of(
            new Part(Source.MEMORY, reads.bytesFromMemory()),
            new Part(Source.DISK, reads.bytesFromDisk()),
            new Part(Source.S3, reads.bytesFromS3())));
  }

  /** The bar; screen readers and pointers get the words. */
  String html(String extraClass) {
    StringBuilder html =
        new StringBuilder("<div class=\"s3e-bar")
            .append(extraClass)
            .append("\" role=\"img\" aria-label=\"")
            .append(words())
            .append("\" title=\"")
            .append(words())
            .append("\">");
    for (Part part : parts) {
      if (part.bytes() > 0) {
        html.append("<span class=\"").append(part.source().css()).append("\" style=\"width:");
        html.append(String.format(Locale.ROOT, "%.2f", 100.0 * part.bytes() / all()));
        html.append("%\"></span>");
      }
    }
    return html.append("</div>").toString();
  }

  /** A swatch, a name, bytes and share for each part. */
  String legend() {
    StringBuilder html = new StringBuilder("<ul class=\"s3e-legend\">");
    for (Part part : parts) {
      html.append("<li><span class=\"s3e-swatch ")
          .append(part.source().css())
          .append("\"></span>")
          .append(part.source().text)
          .append(" <strong>")
          .append(Figures.bytes(part.bytes()))
          .append("</strong> <span class=\"s3e-quiet\">")
          .append(Figures.percent(Figures.ratio(part.bytes(), all())))
          .append("</span></li>");
    }
    return html.append("</ul>").toString();
  }

  private String words() {
    StringBuilder words = new StringBuilder();
    for (Part part : parts) {
      words.append(words.isEmpty() ? "" : ", ").append(part.source().text).append(' ');
      words.append(Figures.bytes(part.bytes()));
    }
    return words.toString();
  }

  private long all() {
    return parts.stream().mapToLong(Part::bytes).sum();
  }
}
