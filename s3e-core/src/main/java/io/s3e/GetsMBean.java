// SPDX-License-Identifier: Apache-2.0
package io.s3e;

/**
 * The latest GETs of one engine of this JVM, as operators see them: {@code io.s3e:type=Gets,...}.
 */
public interface GetsMBean {
  /**
   * One line for each of the latest GETs, the latest first: when, for whom, which bytes of what,
   * what for, how it ended, and what became of its bytes.
   */
  String[] getLatest();

  /** The same, each as a JSON object. */
  String[] getLatestJson();
}
