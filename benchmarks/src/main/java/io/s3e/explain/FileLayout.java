// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.util.Set;

/**
 * What the footers of some of a table's Parquet files say.
 *
 * @param files files that were looked at
 * @param fileBytes their length
 * @param rowGroups row groups in them
 * @param rowGroupBytes the mean length of a row group, as it is stored
 * @param largestRowGroupBytes the longest
 * @param footerBytes the longest footer
 * @param withoutDictionary columns of which no chunk has a dictionary
 * @param withoutIndex columns of which some chunk has no page index
 */
record FileLayout(
    int files,
    long fileBytes,
    int rowGroups,
    long rowGroupBytes,
    long largestRowGroupBytes,
    long footerBytes,
    Set<String> withoutDictionary,
    Set<String> withoutIndex) {}
