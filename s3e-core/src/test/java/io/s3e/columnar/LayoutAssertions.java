// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What holds for every layout, whatever the file said. */
final class LayoutAssertions {
  private LayoutAssertions() {}

  static void assertConsistent(FileLayout layout) {
    long end = 0;
    assertThat(layout.weight()).isPositive();
    for (int group = 0; group < layout.groups; group++) {
      ByteRange whole = layout.group(group);
      assertThat(whole.start()).isGreaterThanOrEqualTo(end);
      end = whole.end();
      if (layout.format == FileLayout.Format.ORC) {
        assertThat(layout.stripeData(group).start()).isGreaterThanOrEqualTo(whole.start());
        assertThat(layout.stripeFooter(group).end()).isEqualTo(whole.end());
      }
      List<ByteRange> chunks = new ArrayList<>();
      for (int column = 0; column < layout.columns; column++) {
        ByteRange chunk = layout.chunk(group, column);
        chunks.add(chunk);
        assertThat(layout.dictionary(group, column).end()).isLessThanOrEqualTo(chunk.end());
        assertThat(layout.bloomFilters.rangeOf(group, column).end())
            .isLessThanOrEqualTo(layout.footerStart);
        assertThat(layout.columnIndexes.rangeOf(group, column).end())
            .isLessThanOrEqualTo(layout.footerStart);
        assertThat(layout.offsetIndexes.rangeOf(group, column).end())
            .isLessThanOrEqualTo(layout.footerStart);
      }
      chunks.sort(Comparator.comparingLong(ByteRange::start).thenComparingLong(ByteRange::end));
      long chunkEnd = whole.start();
      for (ByteRange chunk : chunks) {
        assertThat(chunk.start()).isGreaterThanOrEqualTo(chunkEnd);
        chunkEnd = chunk.end();
      }
      assertThat(chunkEnd).isLessThanOrEqualTo(whole.end());
      assertThat(layout.at(whole.start())).isNotNull();
    }
    assertThat(end).isLessThanOrEqualTo(layout.footerStart);
    ByteRange all = new ByteRange(0, Long.MAX_VALUE);
    assertThat(layout.groupFrom(all.start())).isZero();
    assertThat(layout.groupFrom(all.end())).isEqualTo(layout.groups);
    layout.columnIndexes.span(0, layout.groups);
    layout.offsetIndexes.span(0, layout.groups);
  }
}
