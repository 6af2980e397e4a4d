// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * The rows of every file here, by a formula: sorted columns for indexes, columns with few values
 * for dictionaries, one with many for Bloom filters, random ones that no codec makes shorter.
 */
public final class Rows {
  public static final int COUNT = 27_000;

  /** Rows of a row group or a stripe, about. */
  public static final int PER_GROUP = 3_000;

  /** The one row that {@link Reading#BLOOM} is for; its token is in no other. */
  public static final int SOUGHT = 15_507;

  /** Rows that {@link Reading#PAGE_INDEX} is for. */
  public static final int FIRST_SOUGHT = 10_150;

  public static final int LAST_SOUGHT = 10_400;

  /**
   * A status that only every third stretch of {@link #PER_GROUP} rows has; it lies between the
   * others, so that the least and the greatest of a group tell nothing of it.
   */
  public static final String RARE = "m-returned";

  public static final int SIGNATURE_BYTES = 128;

  private static final String[] STATUSES = {"a-open", "c-paid", "s-sent", "z-done"};

  private Rows() {}

  private static long mix(long row, int column) {
    return new SplittableRandom(row * 31 + column).nextLong();
  }

  /** Ascending. */
  public static long id(int row) {
    return 3L * row;
  }

  /** Ascending, with few values. */
  public static int day(int row) {
    return 19_000 + row / 250;
  }

  public static long quantity(int row) {
    return mix(row, 2);
  }

  public static double price(int row) {
    return (mix(row, 3) >>> 12) / 1e3;
  }

  public static String status(int row) {
    long drawn = mix(row, 4);
    boolean rareHere = row / PER_GROUP % 3 == 1 && Long.remainderUnsigned(drawn, 50) == 0;
    return rareHere ? RARE : STATUSES[(int) (drawn >>> 62)];
  }

  public static String city(int row) {
    return "city-" + (mix(row, 5) >>> 57);
  }

  /** Another for each row. */
  public static String token(int row) {
    return Long.toHexString(mix(row, 6)) + '-' + row;
  }

  public static String comment(int row) {
    return Long.toHexString(mix(row, 7)).repeat(1 + row % 4);
  }

  public static boolean flag(int row) {
    return mix(row, 8) < 0;
  }

  /** Whether the row has {@link #discount}. */
  public static boolean hasDiscount(int row) {
    return mix(row, 9) % 4 == 0;
  }

  public static long discount(int row) {
    return mix(row, 10) >>> 40;
  }

  /** Bytes that nothing compresses. */
  public static byte[] signature(int row) {
    byte[] bytes = new byte[SIGNATURE_BYTES];
    new SplittableRandom(~row).nextBytes(bytes);
    return bytes;
  }

  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
