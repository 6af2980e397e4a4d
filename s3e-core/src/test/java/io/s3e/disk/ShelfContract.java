package io.s3e.disk;

import static io.s3e.disk.TestBlocks.block;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What holds for every shelf: it never claims a chunk that nobody wrote, and never says yes to more
 * than its capacity.
 */
abstract class ShelfContract {
  private static final long FILE_BYTES = DiskBlockId.BLOCK_BYTES + 4096L;
  private static final long CAPACITY = 10 * FILE_BYTES;

  private Shelf shelf;

  /** A shelf of an empty directory. */
  abstract Shelf open(long capacityBytes) throws IOException;

  /** Puts on disk what the shelf is about to be told of; nothing where it never looks. */
  abstract void store(DiskBlockId id, long bytesOnDisk) throws IOException;

  @BeforeEach
  void openShelf() throws IOException {
    shelf = open(CAPACITY);
  }

  @AfterEach
  void closeShelf() {
    shelf.close();
  }

  private void write(DiskBlockId id, int mask, long bytes) throws IOException {
    assertThat(shelf.hasRoomFor(bytes)).isTrue();
    store(id, bytes);
    shelf.written(id, mask, bytes);
  }

  @Test
  void nothingIsBelievedOfABlockThatNobodyWrote() {
    assertThat(shelf.believed(block(0))).isIn(0, Shelf.UNKNOWN);
    assertThat(shelf.bytes()).isZero();
  }

  @Test
  void whatIsWrittenIsBelievedAndNotMore() throws IOException {
    write(block(0), 0b101, 3 * DiskBlockId.CHUNK_BYTES);
    assertThat(shelf.believed(block(0))).isIn(0b101, Shelf.UNKNOWN);
    assertThat(shelf.believed(block(1))).isIn(0, Shelf.UNKNOWN);
    write(block(0), 0b111, 4 * DiskBlockId.CHUNK_BYTES);
    assertThat(shelf.believed(block(0))).isIn(0b111, Shelf.UNKNOWN);
  }

  @Test
  void whatIsGoneIsNotBelievedUntilItIsWrittenAgain() throws IOException {
    write(block(0), 0xFFFF, FILE_BYTES);
    shelf.gone(block(0));
    assertThat(shelf.believed(block(0))).isIn(0, Shelf.UNKNOWN);
    shelf.gone(block(0));
    write(block(0), 0b1, 2 * DiskBlockId.CHUNK_BYTES);
    assertThat(shelf.believed(block(0))).isIn(0b1, Shelf.UNKNOWN);
  }

  @Test
  void thereIsNoRoomForMoreThanTheCapacity() {
    assertThat(shelf.hasRoomFor(FILE_BYTES)).isTrue();
    assertThat(shelf.hasRoomFor(CAPACITY + 1)).isFalse();
  }

  @Test
  void whatIsUsedOrGoneWithoutHavingBeenWrittenDoesNoHarm() {
    shelf.used(block(3));
    shelf.gone(block(3));
    assertThat(shelf.believed(block(3))).isIn(0, Shelf.UNKNOWN);
  }

  @Test
  void aClosedShelfBearsLateCalls() throws IOException {
    write(block(0), 0b1, FILE_BYTES);
    shelf.close();
    shelf.used(block(0));
    shelf.gone(block(0));
    shelf.close();
  }
}
