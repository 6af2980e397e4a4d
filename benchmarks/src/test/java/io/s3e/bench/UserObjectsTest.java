// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.workload.WorkloadKind;
import io.s3e.bench.workload.WorkloadSizes;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class UserObjectsTest {

  private static final long MIB = 1 << 20;
  private static final WorkloadSizes SIZES = new WorkloadSizes(64 * MIB, MIB, MIB, 2);

  private static List<WorkloadKind> workloads(String... labels) {
    return Stream.of(labels).map(WorkloadKind::of).toList();
  }

  private static UserObjects.Found found(String key, long length) {
    return new UserObjects.Found("s3a://b/" + key, length);
  }

  @Test
  void eachObjectIsFetchedOnceAsFarAsAnyWorkloadReadsIt() {
    UserObjects objects =
        new UserObjects(
            List.of(found("a", MIB), found("b", 100 * MIB), found("c", 40 * MIB)),
            workloads("seq", "seq2", "rnd", "small"),
            SIZES);

    assertThat(objects.regions())
        .containsExactly(
            new ObjectSlice("s3a://b/b", 0, 64 * MIB, 0),
            new ObjectSlice("s3a://b/c", 0, 32 * MIB, 64 * MIB),
            new ObjectSlice("s3a://b/a", 0, MIB, 96 * MIB));
    assertThat(objects.of(WorkloadKind.of("seq")))
        .containsExactly(new ObjectSlice("s3a://b/b", 0, 64 * MIB, 0));
    assertThat(objects.of(WorkloadKind.of("seq2")))
        .containsExactly(
            new ObjectSlice("s3a://b/b", 0, 32 * MIB, 0),
            new ObjectSlice("s3a://b/c", 0, 32 * MIB, 64 * MIB));
    assertThat(objects.of(WorkloadKind.of("small")))
        .containsExactly(new ObjectSlice("s3a://b/a", 0, MIB, 96 * MIB));
  }

  @Test
  void streamsForWhichThereAreTooFewObjectsReadRangesOfOne() {
    UserObjects objects =
        new UserObjects(List.of(found("one", 30 * MIB)), workloads("seq3"), SIZES);

    assertThat(objects.of(WorkloadKind.of("seq3")))
        .containsExactly(
            new ObjectSlice("s3a://b/one", 0, 10 * MIB, 0),
            new ObjectSlice("s3a://b/one", 10 * MIB, 10 * MIB, 10 * MIB),
            new ObjectSlice("s3a://b/one", 20 * MIB, 10 * MIB, 20 * MIB));
    assertThat(objects.regions()).containsExactly(new ObjectSlice("s3a://b/one", 0, 30 * MIB, 0));
  }

  @Test
  void whatIsNotThereIsNotRead() {
    UserObjects objects =
        new UserObjects(
            List.of(found("large", 2 * MIB)), workloads("small", "parquet", "seq"), SIZES);

    assertThat(objects.of(WorkloadKind.of("small"))).isEmpty();
    assertThat(objects.parquet()).isEmpty();
    assertThat(
            new UserObjects(
                    List.of(found("x.parquet", 5), found("y.parquet", 7), found("z", 9)),
                    workloads("parquet"),
                    SIZES)
                .parquet())
        .containsExactly(ObjectSlice.front("s3a://b/y.parquet", 7));
  }
}
