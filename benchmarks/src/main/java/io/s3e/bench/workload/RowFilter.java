// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.apache.parquet.filter2.predicate.FilterApi.and;
import static org.apache.parquet.filter2.predicate.FilterApi.eq;
import static org.apache.parquet.filter2.predicate.FilterApi.gtEq;
import static org.apache.parquet.filter2.predicate.FilterApi.longColumn;
import static org.apache.parquet.filter2.predicate.FilterApi.lt;
import static org.apache.parquet.filter2.predicate.FilterApi.or;

import io.s3e.bench.data.LineItemParquet;
import java.util.List;
import java.util.Locale;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.predicate.FilterPredicate;

/**
 * A condition on the rows of {@link LineItemParquet#writeFiltered}, by what parquet-java has to
 * read to find out which row groups, or pages, cannot meet it. Statistics in the footer rule
 * nothing out but by key.
 */
enum RowFilter {
  /** None: all row groups. */
  NONE,
  /** One supplier: the dictionaries of all row groups leave a quarter of them. */
  DICTIONARY,
  /** One price of a column without dictionaries: Bloom filters leave very few row groups. */
  BLOOM,
  /** Few keys here and there: page indexes leave a page in every third row group. */
  PAGE_INDEX;

  private static final String KEY = "l_orderkey";
  private static final String SUPPLIER = "l_suppkey";

  private static final long FIRST_KEY = 10_000;

  /** A page of 20,000 rows is that long on average, for rows are in the order of their keys. */
  private static final long KEYS_OF_PAGE = 20_000L * LineItemParquet.SHARES_OF_SUPPLIERS;

  /** Three row groups and a page, so that it is not always the first. */
  private static final long KEYS_BETWEEN =
      3L * LineItemParquet.SHARES_OF_SUPPLIERS * LineItemParquet.ROWS_OF_FILTERED_GROUP
          + KEYS_OF_PAGE;

  private static final long KEYS_IN_RANGE = 256;

  /** The name's end of its workload. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace("_", "");
  }

  /** For a person. */
  String description() {
    return switch (this) {
      case NONE -> "all rows";
      case DICTIONARY -> "one supplier: dictionaries tell row groups without it";
      case BLOOM -> "one price: Bloom filters tell row groups without it";
      case PAGE_INDEX -> "keys of some pages: page indexes tell the others";
    };
  }

  /** Columns that parquet-java must be asked for beside the wanted ones, to filter by them. */
  List<String> columns() {
    return switch (this) {
      case NONE -> List.of();
      case DICTIONARY -> List.of(SUPPLIER);
      case BLOOM -> List.of(LineItemParquet.BLOOM_FILTERED);
      case PAGE_INDEX -> List.of(KEY);
    };
  }

  /** As parquet-java takes it. */
  FilterCompat.Filter filter() {
    return switch (this) {
      case NONE -> FilterCompat.NOOP;
      case DICTIONARY ->
          FilterCompat.get(eq(longColumn(SUPPLIER), LineItemParquet.SUPPLIER_OF_FIRST_ROW));
      case BLOOM ->
          FilterCompat.get(
              eq(longColumn(LineItemParquet.BLOOM_FILTERED), LineItemParquet.PRICE_OF_FIRST_ROW));
      case PAGE_INDEX -> FilterCompat.get(keys());
    };
  }

  private static FilterPredicate keys() {
    FilterPredicate ranges = range(FIRST_KEY);
    for (int group = 3; group < LineItemParquet.FILTERED_GROUPS; group += 3) {
      ranges = or(ranges, range(FIRST_KEY + group / 3 * KEYS_BETWEEN));
    }
    return ranges;
  }

  private static FilterPredicate range(long from) {
    return and(gtEq(longColumn(KEY), from), lt(longColumn(KEY), from + KEYS_IN_RANGE));
  }
}
