package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How long an answer of S3 counts, and for what. */
class ProofsTest {
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final Proofs proofs = new Proofs(now::get);

  private static ObjectVersion version(String etag) {
    return ObjectVersion.identified(new ObjectRef("bucket", "key"), 17, etag, null);
  }

  @Test
  void anAnswerCountsForItsVersionAloneAndForAWhile() {
    assertThat(proofs.has(version("a"))).isFalse();
    proofs.add(version("a"));
    assertThat(proofs.has(version("a"))).isTrue();
    assertThat(proofs.has(version("b"))).isFalse();
    assertThat(proofs.has(null)).isFalse();
    now.addAndGet(Proofs.LIFE_NANOS - 1);
    assertThat(proofs.has(version("a"))).isTrue();
    now.addAndGet(1);
    assertThat(proofs.has(version("a"))).isFalse();
  }

  @Test
  void aFullTableForgetsTheOldFirst() {
    proofs.add(version("old"));
    now.addAndGet(Proofs.LIFE_NANOS);
    for (int i = 1; i < Proofs.MOST_VERSIONS; i++) {
      proofs.add(version("v" + i));
    }
    proofs.add(version("last"));
    assertThat(proofs.has(version("v1"))).isTrue();
    assertThat(proofs.has(version("last"))).isTrue();

    proofs.add(version("one more"));
    assertThat(proofs.has(version("one more"))).isTrue();
    assertThat(proofs.has(version("v1"))).as("forgotten, which costs one GET").isFalse();
  }
}
