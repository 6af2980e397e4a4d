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
import software.amazon.awssdk.crt.io.ClientTlsContext;
import software.amazon.awssdk.crt.io.TlsContext;

/** The trust of the CRT's TLS contexts, and how long they live. */
class TlsContextsTest {
  private static final String UNREADABLE =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  private static final List<String> AUTHORITIES = JvmTrust.authorities();

  /** Whatever was asked for last is kept. */
  @BeforeEach
  void useOther() {
    assertThat(CrtLibrary.unusableBecause()).isNull();
    TlsContexts.acquire(AUTHORITIES.subList(1, 2)).close();
    assertThat(contexts()).isEqualTo(1);
  }

  @AfterEach
  void onlyTheKeptOneIsLeft() {
    assertThat(contexts()).isEqualTo(1);
  }

  @Test
  void equalTrustSharesOneContext() {
    ClientTlsContext one = TlsContexts.acquire(AUTHORITIES);
    ClientTlsContext two = TlsContexts.acquire(List.copyOf(new ArrayList<>(AUTHORITIES)));
    assertThat(two).isSameAs(one);
    ClientTlsContext other = TlsContexts.acquire(AUTHORITIES.subList(0, 1));
    assertThat(other).isNotSameAs(one);
    one.close();
    assertThat(two.isNull()).isFalse();
    two.close();
    assertThat(two.isNull()).as("another is kept").isTrue();
    other.close();
    assertThat(other.isNull()).as("the kept one").isFalse();
  }

  @Test
  void theContextThatWasUsedLastIsThereForTheNextClient() {
    ClientTlsContext first = TlsContexts.acquire(AUTHORITIES);
    first.close();
    ClientTlsContext second = TlsContexts.acquire(AUTHORITIES);
    assertThat(second).isSameAs(first);
    ClientTlsContext other = TlsContexts.acquire(AUTHORITIES.subList(0, 1));
    other.close();
    assertThat(second.isNull()).as("in use").isFalse();
    assertThat(TlsContexts.acquire(AUTHORITIES.subList(0, 1))).isSameAs(other);
    other.close();
    second.close();
    assertThat(second.isNull()).isTrue();
  }

  @Test
  void anAuthorityThatTheCrtCannotReadIsLeftOut() {
    try (ClientTlsContext some = TlsContexts.acquire(List.of(AUTHORITIES.get(0), UNREADABLE))) {
      assertThat(some.isNull()).isFalse();
    }
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
