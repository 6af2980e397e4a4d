package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class HeldClaimsTest {
  private static final DiskBlockId BLOCK =
      new DiskBlockId(
          "store",
          ObjectVersion.identified(new ObjectRef("bucket", "key"), 5 << 20, "\"e\"", null),
          2);

  private final HeldClaims held = new HeldClaims();
  private final Claim claim = new Claim(Path.of("claim"), "content", 0);

  @Test
  void isGivenBackOnceTheLastFetchIsOver() {
    assertThat(held.join(BLOCK)).as("nobody has claimed it").isFalse();
    assertThat(held.hold(BLOCK, claim)).isTrue();
    assertThat(held.join(BLOCK)).isTrue();

    assertThat(held.leave(BLOCK)).isFalse();
    assertThat(held.takeIdle(BLOCK)).as("one still fetches").isNull();
    assertThat(held.leave(BLOCK)).isTrue();
    assertThat(held.takeIdle(BLOCK)).isSameAs(claim);
    assertThat(held.takeIdle(BLOCK)).as("it is given back once").isNull();
    assertThat(held.join(BLOCK)).isFalse();
  }

  @Test
  void aFetchThatComesBeforeItIsGivenBackKeepsIt() {
    held.hold(BLOCK, claim);
    assertThat(held.leave(BLOCK)).isTrue();

    assertThat(held.join(BLOCK)).isTrue();
    assertThat(held.takeIdle(BLOCK)).isNull();
    assertThat(held.leave(BLOCK)).isTrue();
    assertThat(held.takeIdle(BLOCK)).isSameAs(claim);
  }

  @Test
  void ofTwoClaimsTheFirstStays() {
    held.hold(BLOCK, claim);

    assertThat(held.hold(BLOCK, new Claim(Path.of("claim"), "other", 0))).isFalse();
    assertThat(held.leave(BLOCK)).isFalse();
    assertThat(held.leave(BLOCK)).isTrue();
    assertThat(held.takeIdle(BLOCK)).isSameAs(claim);
  }

  @Test
  void whatNobodyClaimedIsNotGivenBack() {
    assertThat(held.leave(BLOCK)).isFalse();
    assertThat(held.takeIdle(BLOCK)).isNull();
  }
}
