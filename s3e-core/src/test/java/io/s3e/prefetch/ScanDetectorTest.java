package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ScanDetectorTest {
  private static final long MIB = 1 << 20;

  private final ScanDetector scan = new ScanDetector();

  private void readInOrder(long from, long end) {
    for (long at = from; at < end; at += MIB) {
      scan.onRead(at, at + MIB);
    }
  }

  @Test
  void aLongRunIsAScan() {
    readInOrder(0, 31 * MIB);
    assertThat(scan.isScanning()).isFalse();

    readInOrder(31 * MIB, 32 * MIB);
    assertThat(scan.isScanning()).isTrue();
  }

  @Test
  void aScanMayBeginAnywhereAndSkipALittle() {
    readInOrder(700 * MIB, 720 * MIB);
    readInOrder(720 * MIB + 1000, 740 * MIB + 1000);

    assertThat(scan.isScanning()).isTrue();
  }

  @Test
  void aJumpEndsIt() {
    readInOrder(0, 40 * MIB);
    scan.onRead(500 * MIB, 501 * MIB);
    assertThat(scan.isScanning()).isFalse();

    scan.onRead(0, MIB);
    assertThat(scan.isScanning()).isFalse();
  }

  @Test
  void aLookBackInsideTheRunDoesNot() {
    readInOrder(0, 40 * MIB);
    scan.onRead(10 * MIB, 11 * MIB);
    readInOrder(40 * MIB, 41 * MIB);

    assertThat(scan.isScanning()).isTrue();
  }

  @Test
  void theOpenersWordCounts() {
    scan.announce(true);
    assertThat(scan.isScanning()).isTrue();

    scan.announce(false);
    assertThat(scan.isScanning()).isFalse();
  }
}
