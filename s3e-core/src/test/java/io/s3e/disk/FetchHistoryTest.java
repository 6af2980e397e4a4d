// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FetchHistoryTest {
  private final FetchHistory history = new FetchHistory();
  private final StoredObject object = StoredBytes.object("key", 1L << 40);

  private boolean fetched(int first, int end) {
    ChunkRange chunks = new ChunkRange(object, first, end);
    boolean before = history.wasFetched(chunks);
    history.fetched(chunks);
    return before;
  }

  @Test
  void whatIsFetchedAgainIsKnown() {
    assertThat(fetched(0, 1)).isFalse();
    assertThat(fetched(0, 1)).isTrue();
    assertThat(fetched(1, 2)).isFalse();
    assertThat(fetched(1, 2)).isTrue();
  }

  @Test
  void halfOfTheChunksAreEnough() {
    assertThat(fetched(100, 200)).isFalse();

    assertThat(fetched(90, 100)).isFalse();
    assertThat(fetched(200, 210)).isFalse();
    assertThat(fetched(205, 215)).isTrue();
    assertThat(fetched(50, 91)).as("an island").isFalse();
    assertThat(fetched(150, 250)).isTrue();
  }

  @Test
  void groupsOfChunksAreKeptApartAtTheirEdges() {
    assertThat(fetched(15, 17)).isFalse();

    assertThat(fetched(14, 15)).isFalse();
    assertThat(fetched(17, 18)).isFalse();
    assertThat(fetched(15, 16)).isTrue();
    assertThat(fetched(16, 17)).isTrue();
    assertThat(fetched(31, 32)).isFalse();
    assertThat(fetched(31, 32)).isTrue();
  }

  @Test
  void objectsAreKeptApart() {
    assertThat(fetched(0, 100)).isFalse();

    StoredObject other = StoredBytes.object("other", 1L << 40);
    assertThat(history.wasFetched(new ChunkRange(other, 0, 100))).isFalse();
  }

  /** A table of fixed size: it forgets, and remembers what came last. */
  @ParameterizedTest
  @CsvSource({"1024,1024", "10240,10200", "32768,30000"})
  void mostOfWhatFitsIsRemembered(int groups, int least) {
    for (int group = 0; group < groups; group++) {
      assertThat(fetched(group * 16, group * 16 + 16)).isFalse();
    }
    int remembered = 0;
    for (int group = 0; group < groups; group++) {
      remembered += fetched(group * 16 + 7, group * 16 + 8) ? 1 : 0;
    }
    assertThat(remembered).isBetween(least, groups);
  }
}
