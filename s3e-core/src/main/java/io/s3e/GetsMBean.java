// SPDX-License-Identifier: Apache-2.0
package io.s3e;

/**
 * The latest GETs of one engine of this JVM, as operators see them: {@code io.s3e:type=Gets,...}.
 */
public interface GetsMBean {
  /**
   * One line for each of the latest GETs of the engine, the latest first: when, which bytes of
   * what, what for, how it ended, and how many of its bytes came, were used and were wasted.
   */
  String[] getLatest();
}
