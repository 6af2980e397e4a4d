// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.columnar.TableMemory.Visit;
import java.util.BitSet;
import java.util.List;

/**
 * The groups that one stream reads: those that it has read, and those that are expected to follow.
 * Not thread-safe.
 *
 * <p><b>Alike.</b> The latest readers of the table that read the same columns are believed to have
 * read the same groups as this one will, counted from where their splits begin, as far as they
 * agree and until this one does otherwise: statistics of files that are sorted alike rule out the
 * same of their groups.
 *
 * <p><b>The end</b> of what is asked for ahead is where like readers ended, or where they begin to
 * differ; where they left groups out, a stream earns its lead, and has no more groups ahead than it
 * has read. Without a like reader it is the end of the split once two groups in a row are read, and
 * before that one group more; where the split is not known, or like readers have read otherwise, it
 * is one group more, after three in a row 2, after four 4, and so on, as long as the lead is no
 * longer than what was read in a row, or short.
 */
final class GroupSequence {
  private static final int MAX_DOUBLINGS = 16;

  /** Groups, with all their columns, that may lie ahead of a reader however few it has read. */
  private static final long FREE_LEAD_BYTES = 16 << 20;

  /** Groups that lie apart and are asked for ahead; each costs a look at each read. */
  private static final int MAX_SCATTERED = 32;

  private final FileLayout layout;
  private final Groups groups;
  private final BitSet read = new BitSet();
  private int present;

  /** Groups read, each time that the reader came to one. */
  int count;

  /** How many groups were read one after the other without a gap, up to the present one. */
  private int inRow;

  /** The like readers that have read as this one has until now. */
  private List<Visit> alike = List.of();

  /** It has read otherwise than all of those. */
  private boolean isUnlike;

  GroupSequence(FileLayout layout, Groups groups) {
    this.layout = layout;
    this.groups = groups;
  }

  /** The reader comes to {@code group}. */
  void on(int group) {
    groups.at(group, layout);
    if (!alike.isEmpty()) {
      boolean goesOn = group > present;
      alike = alike.stream().filter(each -> goesOn && next(each, present) == group).toList();
      isUnlike |= alike.isEmpty();
    }
    inRow = count > 0 && group == present + 1 ? inRow + 1 : 1;
    count++;
    present = group;
    read.set(group);
  }

  /** In its first group, the reader turns out to be like these, as far as they began as it does. */
  void expect(List<Visit> visits) {
    alike = visits.stream().filter(this::beginsAs).toList();
  }

  private boolean beginsAs(Visit visit) {
    // Where no reader of so many groups would begin, statistics have ruled out what is before.
    int most = layout.groups - visit.groups().length();
    boolean fits = groups.isEndKnown() || present == 0 || present <= most;
    return fits && visit.groups().nextSetBit(0) == present - base();
  }

  /** Whether groups that follow may be asked for, as far as it is not what was read of this one. */
  boolean mayFollow(boolean sawFilters) {
    boolean isExpected = !alike.isEmpty();
    if (count > 1) {
      return inRow > 1 || isExpected;
    }
    boolean isFirst = isExpected || !groups.isEndKnown() || present == groups.first(layout);
    return !sawFilters && isFirst;
  }

  /** Where groups are counted from. */
  private int base() {
    return groups.isEndKnown() ? groups.first(layout) : read.nextSetBit(0);
  }

  /** The group that such a reader came to after {@code group}; the end of the split if to none. */
  private int next(Visit visit, int group) {
    return base() + visit.next(group - base(), groups.end(layout) - base());
  }

  /** The group that is expected after {@code group}; the end of the split if none is. */
  int next(int group) {
    int expected = alike.isEmpty() ? group + 1 : next(alike.get(0), group);
    for (Visit visit : alike) {
      if (next(visit, group) != expected) {
        return groups.end(layout);
      }
    }
    return expected;
  }

  /** The group after the last one to ask for now. */
  int end() {
    int last = groups.end(layout);
    if (alike.isEmpty()) {
      boolean isTrusted = inRow > 1 && groups.isEndKnown() && !isUnlike;
      int doublings = Math.min(MAX_DOUBLINGS, Math.max(0, inRow - 2));
      long most = Math.max(inRow, FREE_LEAD_BYTES / Math.max(1, layout.group(present).length()));
      return isTrusted ? last : (int) Math.min(last, present + 1 + Math.min(most, 1 << doublings));
    }
    int least = last;
    for (Visit visit : alike) {
      least = visit.isWhole() ? least : Math.min(least, base() + visit.groups().length());
    }
    if (alike.stream().allMatch(Visit::isInRow)) {
      return least;
    }
    int end = present;
    for (int i = 0; i < Math.min(count, MAX_SCATTERED) && end < last; i++) {
      end = next(end);
    }
    return Math.min(last, end + 1);
  }

  Visit visit() {
    BitSet relative = read.get(base(), read.length());
    int all = groups.end(layout) - base();
    return new Visit(relative, groups.isEndKnown() && relative.cardinality() == all);
  }
}
