// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CrtCallTest {
  private final List<RequestFailure> told = new ArrayList<>();
  private final List<CrtCall> over = new ArrayList<>();

  private final class Refused implements CrtCall.Owner {
    @Override
    public RequestFailure failed(CrtCall call, RequestFailure failure) {
      throw new IllegalStateException("as if");
    }

    @Override
    public void ended(CrtCall call) {
      over.add(call);
    }
  }

  @Test
  void wantOfDescriptorsPassesAsABrokenConnectionDoes() {
    assertThat(CrtErrors.of("AWS_ERROR_MAX_FDS_EXCEEDED")).isEqualTo(CrtErrors.BROKEN);
    assertThat(CrtErrors.of("AWS_ERROR_UNKNOWN")).isEqualTo(CrtErrors.OTHER);
  }

  /** Somebody waits for the terminal call, and others for what that one does then. */
  @Test
  void theTerminalCallComesWhateverTheOwnerMakesOfTheFailure() {
    CrtCall call =
        new CrtCall(new ObjectRef("bucket", "key"), "GET", new Refused()) {
          @Override
          protected void ended(@Nullable RequestFailure failure) {
            told.add(failure);
          }
        };
    call.end(RequestFailure.cancelled("GET"));
    assertThat(told).singleElement().extracting(RequestFailure::kind).isEqualTo(Kind.OTHER);
    assertThat(over).containsExactly(call);
  }
}
