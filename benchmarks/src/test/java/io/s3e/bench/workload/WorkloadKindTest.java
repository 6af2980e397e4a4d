// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.bench.data.ObjectSlice;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkloadKindTest {

  private static final WorkloadSizes SIZES =
      new WorkloadSizes(512L << 20, 128L << 20, 48L << 20, 2000);

  @Test
  void namesMayCarryParameters() {
    assertThat(WorkloadKind.of("seq:16")).isEqualTo(WorkloadKind.of("seq16"));
    assertThat(WorkloadKind.of("seq16").label()).isEqualTo("seq16");
    assertThat(WorkloadKind.of("seq16").streams()).isEqualTo(16);
    assertThat(WorkloadKind.of("rnd64k-1").description()).contains("64 KiB").contains("one thread");
    for (String wrong : List.of("seq0", "seq5000", "rnd0k-1", "rnd64k-0", "rnd64-1", "sleep", "")) {
      assertThatThrownBy(() -> WorkloadKind.of(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aNumberBehindANameRepeatsIt() {
    WorkloadKind back = WorkloadKind.of("back-2");
    assertThat(back.passes()).isEqualTo(2);
    assertThat(back.processes()).isEqualTo(1);
    assertThat(back.bytes(SIZES)).as("of one pass").isEqualTo(48 << 20);
    assertThat(back.objects("s3a://b/", SIZES))
        .isEqualTo(WorkloadKind.of("back").objects("s3a://b/", SIZES));
    assertThat(WorkloadKind.of("parquet-3").decodes()).isTrue();
    assertThat(WorkloadKind.of("seq-2").readsInOrder()).isTrue();
    assertThat(WorkloadKind.of("seq-2").hasRawCeiling()).isTrue();
    assertThat(WorkloadKind.of("back").passes()).isEqualTo(1);

    WorkloadKind streams = WorkloadKind.of("seq16-2");
    assertThat(streams.streams()).isEqualTo(16);
    assertThat(streams.objects("s3a://b/", SIZES))
        .as("the same objects")
        .isEqualTo(WorkloadKind.of("seq16").objects("s3a://b/", SIZES));

    assertThat(WorkloadKind.of("rnd64k-16").passes()).as("16 threads").isEqualTo(1);
    assertThat(WorkloadKind.of("rnd64k-16-2").passes()).isEqualTo(2);
    assertThat(WorkloadKind.of("small-nostatus-2").passes()).isEqualTo(2);
    for (String wrong : List.of("back-1", "back-0", "back-99", "sleep-2", "back-2-2", "-2")) {
      assertThatThrownBy(() -> WorkloadKind.of(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void severalProcessesMayShareAnObject() {
    WorkloadKind share = WorkloadKind.of("share-4");
    assertThat(share.processes()).isEqualTo(4);
    assertThat(share.bytes(SIZES)).as("of each").isEqualTo(512 << 20);
    assertThat(share.objects("s3a://b/", SIZES)).hasSize(1);
    assertThat(share.readsInOrder()).isTrue();
    assertThat(share.hasRawCeiling()).as("no client shares anything").isFalse();
    assertThat(WorkloadKind.of("share-4-2").processes()).isEqualTo(4);
    assertThat(WorkloadKind.of("share-4-2").passes()).isEqualTo(2);
    assertThatThrownBy(() -> WorkloadKind.of("share-0"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aWorkloadMayBeMeasuredInFreshJvms() {
    WorkloadKind cold = WorkloadKind.of("cold");
    assertThat(cold.jvm()).isEqualTo(WorkloadKind.Jvm.COLD);
    assertThat(cold.bytes(SIZES)).isEqualTo(64 << 20);
    assertThat(cold.hasRawCeiling()).isTrue();

    WorkloadKind random = WorkloadKind.of("cold-rnd64k-16");
    assertThat(random.label()).isEqualTo("cold-rnd64k-16");
    assertThat(random.jvm()).isEqualTo(WorkloadKind.Jvm.COLD);
    assertThat(random.streams()).isEqualTo(16);
    assertThat(WorkloadKind.of("cold-seq-2").passes()).isEqualTo(2);
    assertThat(WorkloadKind.of("cold-seq8").objects("s3a://b/", SIZES))
        .as("the same objects")
        .isEqualTo(WorkloadKind.of("seq8").objects("s3a://b/", SIZES));
    assertThat(WorkloadKind.of("seq").jvm()).isEqualTo(WorkloadKind.Jvm.KEPT);
    for (String wrong : List.of("cold-", "cold-cold", "cold-manyfs2", "cold-neighbour-hang")) {
      assertThatThrownBy(() -> WorkloadKind.of(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void fileSystemsHaveABucketEachAndOneMoreToWarmUp() {
    WorkloadKind many = WorkloadKind.of("manyfs3");
    assertThat(many.jvm()).isEqualTo(WorkloadKind.Jvm.FRESH);
    assertThat(many.bucketsBeside()).isEqualTo(3);
    List<ObjectSlice> objects = many.objects("s3a://b/", SIZES);
    assertThat(objects)
        .extracting(ObjectSlice::uri)
        .containsExactly(
            "s3a://b/manyfs/part-00000",
            "s3a://b/manyfs/part-00001",
            "s3a://b-1/manyfs/part-00000",
            "s3a://b-1/manyfs/part-00001",
            "s3a://b-2/manyfs/part-00000",
            "s3a://b-2/manyfs/part-00001",
            "s3a://b-3/manyfs/part-00000",
            "s3a://b-3/manyfs/part-00001");
    assertThat(objects).allSatisfy(o -> assertThat(o.length()).isEqualTo(128 << 20));
    assertThat(objects.get(5).reference()).as("the same bytes").isEqualTo(128 << 20);
    assertThat(many.bytes(SIZES)).isEqualTo(3 * 2 * (128 << 20));
    for (String wrong : List.of("manyfs0", "manyfs65", "manyfs3-2")) {
      assertThatThrownBy(() -> WorkloadKind.of(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aFamilyIsNamedByOneName() {
    assertThat(WorkloadKind.named("manyfs"))
        .extracting(WorkloadKind::label)
        .containsExactly("manyfs1", "manyfs8", "manyfs32");
    assertThat(WorkloadKind.named("neighbour"))
        .hasSize(Disturbance.values().length)
        .allSatisfy(kind -> assertThat(kind.bucketsBeside()).isEqualTo(1))
        .allSatisfy(kind -> assertThat(kind.objects("s3a://b/", SIZES)).hasSize(5));
    assertThat(WorkloadKind.named("manyfiles"))
        .extracting(WorkloadKind::label)
        .containsExactly("manyfiles-name", "manyfiles-status");
    assertThat(WorkloadKind.named("filter"))
        .extracting(WorkloadKind::label)
        .containsExactly("filter-dictionary", "filter-bloom", "filter-pageindex");
    assertThat(WorkloadKind.named("seq8")).containsExactly(WorkloadKind.of("seq8"));
  }

  @Test
  void streamsShareTheBytesButHaveEightMebibytesEach() {
    assertThat(WorkloadKind.of("seq16").bytes(SIZES)).isEqualTo(512 << 20);
    assertThat(WorkloadKind.of("seq256").bytes(SIZES)).isEqualTo(2L << 30);

    List<ObjectSlice> objects = WorkloadKind.of("seq256").objects("s3a://b/", SIZES);
    assertThat(objects).hasSize(256);
    assertThat(objects.get(3))
        .isEqualTo(new ObjectSlice("s3a://b/seq256/part-00003", 0, 8 << 20, 24 << 20));
  }

  @Test
  void fewerReadsAtOnceAreFewerReads() {
    assertThat(WorkloadKind.of("rnd").bytes(SIZES)).isEqualTo(128 << 20);
    assertThat(WorkloadKind.of("rnd64k-16").bytes(SIZES)).isEqualTo(128 << 20);
    assertThat(WorkloadKind.of("rnd256k-1").bytes(SIZES)).isEqualTo(32 << 20);
    assertThat(WorkloadKind.of("rnd64k-1").bytes(SIZES)).isEqualTo(8 << 20);
  }

  @Test
  void smallObjectsFollowEachOtherInTheReference() {
    List<ObjectSlice> objects = WorkloadKind.of("small").objects("s3a://b/", SIZES);

    long end = 0;
    for (ObjectSlice object : objects) {
      assertThat(object.reference()).isEqualTo(end);
      assertThat(object.length()).isBetween(64L << 10, 1L << 20);
      end += object.length();
    }
    assertThat(objects)
        .hasSize(2000)
        .isEqualTo(WorkloadKind.of("small").objects("s3a://b/", SIZES));
    assertThat(WorkloadKind.of("small-nostatus").objects("s3a://b/", SIZES)).isEqualTo(objects);
    assertThat(WorkloadKind.of("small").bytes(SIZES)).isEqualTo(end);
  }

  @Test
  void aConsumerHasARate() {
    assertThat(WorkloadKind.of("scan-200").hasPace()).isTrue();
    assertThat(WorkloadKind.of("scan-200").description()).contains("200 MB/s");
    assertThat(WorkloadKind.of("scan-50-2").passes()).isEqualTo(2);
    assertThat(WorkloadKind.of("vec").hasPace()).isFalse();
    for (String wrong : List.of("scan-0", "scan-20000", "scan-", "scan")) {
      assertThatThrownBy(() -> WorkloadKind.of(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
