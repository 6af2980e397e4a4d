// SPDX-License-Identifier: Apache-2.0
package io.s3e;

/** The latest GETs of an engine, as operators see them: {@code io.s3e:type=Gets,...}. */
public interface GetsMBean {
  /** A line each, the latest first: when, for whom, what, what for, its end, its bytes' end. */
  String[] getLatest();

  /** The same, each as a JSON object. */
  String[] getLatestJson();
}
