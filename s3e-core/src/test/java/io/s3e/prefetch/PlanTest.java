package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockRange;
import io.s3e.prefetch.ReadPlanner.Plan;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlanTest {
  private static final BlockRange READ = new BlockRange(10, 12);

  private static Plan plan(boolean along, BlockRange... runs) {
    return new Plan(List.of(runs), List.of(), along);
  }

  @Test
  void aRunThatTouchesTheReadGoesByItsGet() {
    Plan before = plan(true, new BlockRange(7, 10));
    assertThat(before.alongFrom(READ)).isEqualTo(7);
    assertThat(before.alongUntil(READ)).isEqualTo(12);
    Plan after = plan(true, new BlockRange(12, 14));
    assertThat(after.alongFrom(READ)).isEqualTo(10);
    assertThat(after.alongUntil(READ)).isEqualTo(14);
  }

  @Test
  void aRunApartOrNotAlongGoesByAGetOfItsOwn() {
    assertThat(plan(true, new BlockRange(7, 9)).alongFrom(READ)).isEqualTo(10);
    assertThat(plan(false, new BlockRange(7, 10)).alongFrom(READ)).isEqualTo(10);
    assertThat(plan(true).alongFrom(READ)).isEqualTo(10);
  }
}
