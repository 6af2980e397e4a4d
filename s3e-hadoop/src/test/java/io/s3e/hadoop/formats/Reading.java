// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

/** How much of a file a reader asks for. */
public enum Reading {
  /** Four columns of all rows. */
  FOUR,
  /** All columns of all rows. */
  ALL,
  /** Rows with a value that dictionaries, or statistics, rule out for most groups. */
  DICTIONARY,
  /** One row, found by Bloom filters. */
  BLOOM,
  /** Some hundred rows in a row, found by the indexes of pages or of rows. */
  PAGE_INDEX,
  /** The groups whose middle lies in the second half of the file. */
  SECOND_HALF,
  /** How many rows there are. */
  COUNT
}
