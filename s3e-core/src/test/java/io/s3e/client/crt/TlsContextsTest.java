// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.s3e.client.aws.JvmTrust;
import io.s3e.client.library.CrtLibrary;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.crt.CrtResource;
import software.amazon.awssdk.crt.io.TlsContext;

/** The trust of the CRT's TLS contexts, and how long they live. */
class TlsContextsTest {
  private static final String UNREADABLE =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  private static final List<String> AUTHORITIES = JvmTrust.authorities();

  /** Whatever was used last is the spare. */
  @BeforeEach
  void useOther() {
    assertThat(CrtLibrary.unusableBecause()).isNull();
    TlsContexts.acquire(AUTHORITIES.subList(1, 2)).release();
    assertThat(contexts()).isEqualTo(1);
  }

  @AfterEach
  void onlyTheSpareIsLeft() {
    assertThat(contexts()).isEqualTo(1);
  }

  @Test
  void equalTrustSharesOneContext() {
    TlsContexts one = TlsContexts.acquire(AUTHORITIES);
    TlsContexts two = TlsContexts.acquire(List.copyOf(new ArrayList<>(AUTHORITIES)));
    TlsContexts other = TlsContexts.acquire(AUTHORITIES.subList(0, 1));
    assertThat(two).isSameAs(one);
    assertThat(other.context).isNotSameAs(one.context);
    one.release();
    assertThat(two.context.isNull()).isFalse();
    two.release();
    assertThat(two.context.isNull()).as("the spare").isFalse();
    other.release();
    assertThat(two.context.isNull()).as("another is the spare").isTrue();
  }

  @Test
  void theContextThatWasUsedLastIsThereForTheNextClient() {
    TlsContexts first = TlsContexts.acquire(AUTHORITIES);
    first.release();
    TlsContexts second = TlsContexts.acquire(AUTHORITIES);
    assertThat(second).isSameAs(first);
    TlsContexts other = TlsContexts.acquire(AUTHORITIES.subList(0, 1));
    other.release();
    assertThat(second.context.isNull()).as("in use, so no spare").isFalse();
    second.release();
    assertThat(other.context.isNull()).isTrue();
  }

  @Test
  void anAuthorityThatTheCrtCannotReadIsLeftOut() {
    TlsContexts some = TlsContexts.acquire(List.of(AUTHORITIES.get(0), UNREADABLE));
    assertThat(some.context.isNull()).isFalse();
    some.release();
  }

  @Test
  void withoutAnyUsableAuthorityThereIsNoContext() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TlsContexts.acquire(List.of(UNREADABLE, UNREADABLE)))
        .withMessageContaining("none of the 2 trusted authorities");
    assertThatIllegalArgumentException().isThrownBy(() -> TlsContexts.acquire(List.of()));
  }

  private static int contexts() {
    int[] count = new int[1];
    CrtResource.collectNativeResource(
        resource -> {
          // One whose constructor has thrown is listed too, without a native half.
          if (resource.getWrapper() instanceof TlsContext context && !context.isNull()) {
            count[0]++;
          }
        });
    return count[0];
  }
}
