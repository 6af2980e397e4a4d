// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code put} does where the store refuses some of its requests. */
@Slow
class RefusedUploadsTest {
  private static final int PART = 5 << 20;
  private static final String URI = "s3a://bucket/key";

  private static Outcome put(RefusingStore store, int size, String... more) {
    try (CommandRig rig = new CommandRig(store.endpoint())) {
      String[] arguments = new String[more.length + 4];
      arguments[0] = "put";
      arguments[1] = "-";
      arguments[2] = URI;
      arguments[3] = "--part-size=5m";
      System.arraycopy(more, 0, arguments, 4, more.length);
      return rig.run(new byte[size], arguments);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2 * PART})
  void anObjectOfWhichTheStoreSaysNothingIsNotReplaced(int size) throws IOException {
    try (RefusingStore store = new RefusingStore(Map.of("HEAD", 403, "If-None-Match", 501))) {
      Outcome put = put(store, size);

      assertThat(put.code()).isEqualTo(1);
      assertThat(put.err())
          .hasLineCount(1)
          .contains(
              "s3e put: s3://bucket/key: the store does not tell whether the object exists",
              "--force writes it");
      assertThat(store.taken()).doesNotContain("PUT", "POST?uploadId=upload-1");

      assertThat(put(store, size, "--force").code()).isZero();
      assertThat(store.taken()).containsAnyOf("PUT", "POST?uploadId=upload-1");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2 * PART})
  void anObjectThatWasSeenAbsentNeedsNoCondition(int size) throws IOException {
    try (RefusingStore store = new RefusingStore(Map.of("HEAD", 404, "If-None-Match", 501))) {
      Outcome put = put(store, size);

      assertThat(put.code()).as(put.err()).isZero();
      assertThat(store.taken()).containsAnyOf("PUT", "POST?uploadId=upload-1");
    }
  }

  @Test
  void theConditionIsEnoughForWhoMayNotRead() throws IOException {
    try (RefusingStore store = new RefusingStore(Map.of("HEAD", 403))) {
      assertThat(put(store, 1).code()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2 * PART})
  void anObjectWhoseAnswerWasLostIsThere(int size) throws IOException {
    try (RefusingStore store = new RefusingStore(Map.of("HEAD", 404)).losingOne(null)) {
      Outcome put = put(store, size, "--json");

      assertThat(put.code()).as(put.err()).isZero();
      assertThat(put.json().get("etag").asText()).isEqualTo(store.stored());
      assertThat(put.json().get("retries").asLong()).isEqualTo(1);
      assertThat(store.taken()).noneMatch(request -> request.startsWith("DELETE"));
    }
  }

  /** Or who may not look, so that nobody knows. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anObjectThatSomebodyElseMayHaveWrittenIsNotClaimed(boolean mayLook) throws IOException {
    try (RefusingStore store =
        new RefusingStore(Map.of("HEAD", mayLook ? 404 : 403))
            .losingOne(mayLook ? "\"other\"" : null)) {
      Outcome put = put(store, 1);

      assertThat(put.code()).isEqualTo(1);
      assertThat(put.err())
          .hasLineCount(1)
          .contains("the store's answer was lost", "HTTP 412", "--force replaces it");
    }
  }

  @Test
  void anObjectThatIsThereFirstStays() throws IOException {
    try (RefusingStore store = new RefusingStore(Map.of("HEAD", 403))) {
      store.store("\"other\"");
      Outcome put = put(store, 1);

      assertThat(put.code()).isEqualTo(1);
      assertThat(put.err()).hasLineCount(1).contains("exists", "HTTP 412");
      assertThat(store.stored()).isEqualTo("\"other\"");
    }
  }

  @Test
  void anAbortThatFailsHasALineOfItsOwn() throws IOException {
    try (RefusingStore store = new RefusingStore(Map.of("HEAD", 404, "PUT", 400, "DELETE", 403))) {
      Outcome put = put(store, 2 * PART);

      assertThat(put.code()).isEqualTo(1);
      assertThat(put.err().lines())
          .hasSize(2)
          .anyMatch(line -> line.contains(URI.replace("s3a:", "s3:")) && line.contains("HTTP 400"))
          .anyMatch(line -> line.contains("upload upload-1 is not aborted, its parts stay"));
    }
  }
}
