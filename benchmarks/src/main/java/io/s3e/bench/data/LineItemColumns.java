// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import io.trino.tpch.LineItem;

/** The columns of a row of lineitem, in the order of the files that are made of it. */
interface LineItemColumns {
  void add(long value);

  void add(int value);

  void add(String value);

  /** Hands over the columns of {@code item}: amounts in hundredths, dates in days since 1970. */
  static void of(LineItem item, LineItemColumns to) {
    to.add(item.getOrderKey());
    to.add(item.getPartKey());
    to.add(item.getSupplierKey());
    to.add(item.getLineNumber());
    to.add(item.getQuantity() * 100);
    to.add(item.getExtendedPriceInCents());
    to.add(item.getDiscountPercent());
    to.add(item.getTaxPercent());
    to.add(item.getReturnFlag());
    to.add(item.getStatus());
    to.add(item.getShipDate());
    to.add(item.getCommitDate());
    to.add(item.getReceiptDate());
    to.add(item.getShipInstructions());
    to.add(item.getShipMode());
    to.add(item.getComment());
  }
}
