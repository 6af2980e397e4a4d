// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

/** What is made of Parquet and ORC files beyond what is made of all files. */
public enum ColumnarMode {
  /** The parts of them that their readers will ask for are fetched ahead. */
  AUTO,
  /** Nothing is fetched for it; what {@link #AUTO} would have fetched is counted as if it had. */
  OBSERVE,
  /** They are files like others. */
  OFF
}
