// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that rules look at.
 *
 * @param layouts what the footers of a table's files say, by table; empty where nobody looked
 */
record Facts(Application application, List<TableReads> tables, Map<String, FileLayout> layouts) {

  Optional<FileLayout> layout(TableReads table) {
    return Optional.ofNullable(layouts.get(table.table()));
  }
}
