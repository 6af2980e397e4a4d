// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.PlaceFacts.ColumnScan;
import io.s3e.prefetch.ReaderHabit;
import io.s3e.prefetch.TableLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  private static final int HASH_DIGITS = 8;

  private final Map<ObjectVersion, FileLayout> layouts = byUse(Integer.MAX_VALUE);

  /** What streams learn of the files in one place, for use before the next one's footer is read. */
  record Directory(TailMemory tails, AlikeFiles alike, TableLedger ledger, ReaderHabit habit) {
    Directory() {
      this(new TailMemory(), new AlikeFiles(), new TableLedger(), new ReaderHabit());
    }
  }

  /** By place and schema: files of one schema beside each other. */
  private final Map<Map.Entry<String, Long>, TableMemory> tables = byUse(MAX_TABLES);

  private final Map<String, Directory> places = byUse(MAX_TABLES);
  private long layoutBytes;

  /** A memory that has learnt nothing but these facts, by place as {@link #facts} has them. */
  public static LayoutMemory of(Map<String, PlaceFacts> facts) {
    LayoutMemory memory = new LayoutMemory();
    facts.forEach(memory::recall);
    return memory;
  }

  private void recall(String name, PlaceFacts facts) {
    Directory place = places.computeIfAbsent(name, each -> new Directory());
    if (facts.footerBytes() > 0) {
      place.tails.footer(facts.footerBytes(), 0);
    }
    facts.files().forEach(place.alike::onRead);
    for (PlaceFacts.ColumnScan scan : facts.scans()) {
      table(name, scan.schema()).recall(scan.columns());
    }
  }

  /** What was learnt of each place, for other JVMs: bucket and directory, without partitions. */
  public synchronized Map<String, PlaceFacts> facts() {
    Map<String, List<ColumnScan>> scans = new HashMap<>();
    tables.forEach(
        (table, memory) -> {
          List<ColumnScan> known = scans.computeIfAbsent(table.getKey(), none -> new ArrayList<>());
          memory.columns().forEach(columns -> known.add(new ColumnScan(table.getValue(), columns)));
        });
    Map<String, PlaceFacts> facts = new HashMap<>();
    places.forEach(
        (name, place) -> {
          List<ColumnScan> ofPlace = scans.getOrDefault(name, List.of());
          facts.put(name, new PlaceFacts(place.tails.footerBytes(), place.alike.latest(), ofPlace));
        });
    return facts;
  }

  /** What was used longest ago goes as soon as there are more. */
  private static <K, V> Map<K, V> byUse(int most) {
    return new LinkedHashMap<>(16, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<K, V> oldest) {
        return size() > most;
      }
    };
  }

  synchronized @Nullable FileLayout layout(ObjectVersion version) {
    return layouts.get(version);
  }

  /** Keeps a layout of a known version, if there is room; the one known before, if one was. */
  synchronized FileLayout keep(ObjectVersion version, FileLayout layout) {
    FileLayout known = layouts.get(version);
    if (known != null) {
      return known;
    }
    if (!version.isIdentified() || layout.weight() > MAX_LAYOUT_BYTES) {
      return layout;
    }
    layouts.put(version, layout);
    layoutBytes += layout.weight();
    Iterator<FileLayout> oldest = layouts.values().iterator();
    while (layoutBytes > MAX_LAYOUT_BYTES) {
      layoutBytes -= oldest.next().weight();
      oldest.remove();
    }
    return layout;
  }

  synchronized TableMemory table(ObjectRef object, long schema) {
    return table(placeOf(object), schema);
  }

  private TableMemory table(String place, long schema) {
    return tables.computeIfAbsent(Map.entry(place, schema), each -> new TableMemory());
  }

  /** The place that {@code object} is in with other files. */
  synchronized Directory place(ObjectRef object) {
    return places.computeIfAbsent(placeOf(object), each -> new Directory());
  }

  /**
   * Bucket and directory, without the directories of partitions ({@code name=value}, {@code
   * 2024/05/01}, {@code 2024-05-01}) and those that spread files by a hash ({@code 0110}, {@code
   * 1f93a02c}).
   */
  public static String placeOf(ObjectRef object) {
    StringBuilder place = new StringBuilder(object.bucket());
    String key = object.key();
    int from = 0;
    for (int slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', from)) {
      String name = key.substring(from, slash);
      boolean isSpread = name.indexOf('=') >= 0 || isDateOrHash(name);
      if (!isSpread) {
        place.append('/').append(name);
      }
      from = slash + 1;
    }
    return place.toString();
  }

  /** Digits and dashes, or the 8 hexadecimal digits of a hash, of which one is decimal. */
  private static boolean isDateOrHash(String name) {
    int digits = 0;
    int dashes = 0;
    boolean isHex = name.length() == HASH_DIGITS;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      digits += c >= '0' && c <= '9' ? 1 : 0;
      dashes += c == '-' ? 1 : 0;
      isHex &= (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    }
    return digits > 0 && (isHex || digits + dashes == name.length());
  }
}
