// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.spark.stages.ScanAccount;
import io.s3e.spark.stages.TaskScans;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** The rows or batches of a scan as they are; while they are asked for, the task reads for it. */
final class ScanIterator<T> extends AbstractIterator<T> {
  private final Iterator<T> scan;
  private final TaskScans scans;
  private final ScanAccount account;

  ScanIterator(Iterator<T> scan, TaskScans scans, ScanAccount account) {
    this.scan = scan;
    this.scans = scans;
    this.account = account;
  }

  @Override
  public boolean hasNext() {
    if (!scans.areSeveral()) {
      return scan.hasNext();
    }
    ScanAccount before = scans.resume(account);
    try {
      return scan.hasNext();
    } finally {
      scans.leave(before);
    }
  }

  @Override
  public T next() {
    if (!scans.areSeveral()) {
      return scan.next();
    }
    ScanAccount before = scans.resume(account);
    try {
      return scan.next();
    } finally {
      scans.leave(before);
    }
  }
}
