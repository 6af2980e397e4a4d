// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop341;

/** Whether this Hadoop has the stream SPI of hadoop-aws 3.4.2, found without loading its types. */
public final class StreamSpi {
  private static final boolean PRESENT = probe();

  private StreamSpi() {}

  public static boolean isPresent() {
    return PRESENT;
  }

  private static boolean probe() {
    try {
      Class.forName(
          "org.apache.hadoop.fs.s3a.impl.streams.ObjectInputStreamFactory",
          false,
          StreamSpi.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }
}
