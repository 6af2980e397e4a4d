// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.unsafe.types;

/** In the place of Spark's. */
public record UTF8String(String text) {
  @Override
  public String toString() {
    return text;
  }
}
