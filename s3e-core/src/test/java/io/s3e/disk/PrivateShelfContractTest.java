package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;

class PrivateShelfContractTest extends ShelfContract {
  @Override
  Shelf open(long capacityBytes) {
    return new PrivateShelf(capacityBytes, new DiskMetrics(), id -> {});
  }

  @Override
  void store(DiskBlockId id, long bytesOnDisk) {
    // It never looks at the disk.
  }
}
