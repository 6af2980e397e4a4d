// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.PlaceFacts.ColumnScan;
import io.s3e.prefetch.ReaderPace;
import io.s3e.prefetch.TableLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the streams of an engine know of files and tables: layouts by object version, since Spark
 * reads a footer by one stream and the data by another, and opens a file once for each split and
 * query; scans by schema; lengths of footers, and where data lies, by place. Any thread; holds its
 * lock for a look-up.
 *
 * <p>Bounded: layouts by {@value #MAX_LAYOUT_BYTES} bytes, tables and places by {@value
 * #MAX_TABLES} each. What was used longest ago goes first.
 */
public final class LayoutMemory {
  private static final long MAX_LAYOUT_BYTES = 8 << 20;
  private static final int MAX_TABLES = 1 << 10;
  private static final float LOAD_FACTOR = 0.75f;
  private static final int FEW = 16;

  private final Map<ObjectVersion, FileLayout> layouts = byUse();

  /** Files of one schema beside each other. Tables of the same schema lie apart. */
  private record Table(String place, long schema) {}

  /** What streams learn of the files in one place, for use before the next one's footer is read. */
  record Directory(TailMemory tails, AlikeFiles alike, TableLedger ledger, ReaderPace pace) {
    Directory() {
      this(new TailMemory(), new AlikeFiles(), new TableLedger(), new ReaderPace());
    }
  }

  private final Map<Table, TableMemory> tables = byUse();
  private final Map<String, Directory> places = byUse();
  private long layoutBytes;

  /** A memory that has learnt nothing but these facts, by place as {@link #facts} has them. */
  public static LayoutMemory of(Map<String, PlaceFacts> facts) {
    LayoutMemory memory = new LayoutMemory();
    facts.forEach(memory::recall);
    return memory;
  }

  private void recall(String name, PlaceFacts facts) {
    Directory place = find(places, name, Directory::new);
    if (facts.footerBytes() > 0) {
      place.tails.footer(facts.footerBytes());
    }
    facts.files().forEach(place.alike::onRead);
    for (PlaceFacts.ColumnScan scan : facts.scans()) {
      find(tables, new Table(name, scan.schema()), TableMemory::new).recall(scan.columns());
    }
  }

  /** What was learnt of each place, for other JVMs: bucket and directory, without partitions. */
  public synchronized Map<String, PlaceFacts> facts() {
    Map<String, List<ColumnScan>> scans = new HashMap<>();
    tables.forEach(
        (table, memory) -> {
          List<ColumnScan> known = scans.computeIfAbsent(table.place, none -> new ArrayList<>());
          memory.columns().forEach(columns -> known.add(new ColumnScan(table.schema, columns)));
        });
    Map<String, PlaceFacts> facts = new HashMap<>();
    places.forEach(
        (name, place) -> {
          List<ColumnScan> ofPlace = scans.getOrDefault(name, List.of());
          facts.put(name, new PlaceFacts(place.tails.footerBytes(), place.alike.latest(), ofPlace));
        });
    return facts;
  }

  private static <K, V> Map<K, V> byUse() {
    return new LinkedHashMap<>(FEW, LOAD_FACTOR, true);
  }

  synchronized @Nullable FileLayout layout(ObjectVersion version) {
    return layouts.get(version);
  }

  /** Keeps a layout, if its ETag is known and there is room; the one known before, if one was. */
  synchronized FileLayout keep(ObjectVersion version, FileLayout layout) {
    FileLayout known = layouts.get(version);
    if (known != null) {
      return known;
    }
    if (version.etag() == null || layout.weight() > MAX_LAYOUT_BYTES) {
      return layout;
    }
    layouts.put(version, layout);
    layoutBytes += layout.weight();
    while (layoutBytes > MAX_LAYOUT_BYTES) {
      layoutBytes -= removeOldest(layouts).weight();
    }
    return layout;
  }

  synchronized TableMemory table(ObjectRef object, long schema) {
    return find(tables, new Table(placeOf(object), schema), TableMemory::new);
  }

  /** The place that {@code object} is in with other files. */
  synchronized Directory place(ObjectRef object) {
    return find(places, placeOf(object), Directory::new);
  }

  private static <K, V> V find(Map<K, V> map, K key, Supplier<V> fresh) {
    V found = map.computeIfAbsent(key, each -> fresh.get());
    if (map.size() > MAX_TABLES) {
      removeOldest(map);
    }
    return found;
  }

  private static <V> V removeOldest(Map<?, V> map) {
    Iterator<V> values = map.values().iterator();
    V oldest = values.next();
    values.remove();
    return oldest;
  }

  /**
   * Bucket and directory, without the directories of partitions ({@code name=value}) and those that
   * spread files by a hash ({@code 0110}).
   */
  public static String placeOf(ObjectRef object) {
    StringBuilder place = new StringBuilder(object.bucket());
    String key = object.key();
    int from = 0;
    for (int slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', from)) {
      String name = key.substring(from, slash);
      boolean isSpread = name.indexOf('=') >= 0 || name.chars().allMatch(c -> c == '0' || c == '1');
      if (!isSpread) {
        place.append('/').append(name);
      }
      from = slash + 1;
    }
    return place.toString();
  }
}
