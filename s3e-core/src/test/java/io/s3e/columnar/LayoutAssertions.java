package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;

/** What holds for every layout, whatever the file said. */
final class LayoutAssertions {
  private LayoutAssertions() {}

  static void assertConsistent(FileLayout layout) {
    long end = 0;
    assertThat(layout.weight()).isPositive();
    for (int group = 0; group < layout.groups(); group++) {
      ByteRange whole = layout.group(group);
      assertThat(whole.start()).isGreaterThanOrEqualTo(end);
      end = whole.end();
      if (layout.format() == FileLayout.Format.ORC) {
        assertThat(layout.stripeData(group).start()).isGreaterThanOrEqualTo(whole.start());
        assertThat(layout.stripeFooter(group).end()).isEqualTo(whole.end());
      }
      long chunkEnd = whole.start();
      for (int column = 0; column < layout.columns(); column++) {
        ByteRange chunk = layout.chunk(group, column);
        assertThat(chunk.start()).isGreaterThanOrEqualTo(chunkEnd);
        chunkEnd = chunk.end();
        assertThat(layout.dictionary(group, column).end()).isLessThanOrEqualTo(chunkEnd);
        assertThat(layout.bloomFilter(group, column).end())
            .isLessThanOrEqualTo(layout.footerStart());
        assertThat(layout.columnIndex(group, column).end())
            .isLessThanOrEqualTo(layout.footerStart());
        assertThat(layout.offsetIndex(group, column).end())
            .isLessThanOrEqualTo(layout.footerStart());
      }
      assertThat(chunkEnd).isLessThanOrEqualTo(whole.end());
      assertThat(layout.at(whole.start())).isNotNull();
    }
    assertThat(end).isLessThanOrEqualTo(layout.footerStart());
    ByteRange all = new ByteRange(0, Long.MAX_VALUE);
    assertThat(layout.firstGroupOf(all)).isZero();
    assertThat(layout.endGroupOf(all)).isEqualTo(layout.groups());
    layout.columnIndexes(0, layout.groups());
    layout.offsetIndexes(0, layout.groups());
  }
}
