package io.s3e.buffer;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A lock-free stack of small integers (Treiber, 1986), each of which is on it at most once.
 *
 * <p>Two kinds of words hold it:
 *
 * <ul>
 *   <li>{@code head} = stamp (upper 32 bits) | index of the top, or {@link #NONE} (lower 32 bits).
 *       The stamp grows by one with every change and wraps. It is what makes a compare-and-set fail
 *       if the same index left and came back in between (ABA): 2^32 changes would have to fit
 *       between one thread's read and its compare-and-set for it to be deceived.
 *   <li>{@code nodes[i]} = number of indices from {@code i} down to the bottom (upper 32 bits) |
 *       index below {@code i}, or {@link #NONE} (lower 32 bits). Written only by the thread that is
 *       about to push {@code i}, which nobody else holds, and constant while {@code i} is on the
 *       stack. A thread that reads a node while its owner rewrites it has already lost: the head
 *       changed before the owner got the index.
 * </ul>
 *
 * <p>What a thread wrote before it pushed an index happens-before the return of the pop that yields
 * it. Losing a race costs one more try, and somebody else has made progress then.
 */
final class IndexStack {
  static final int NONE = -1;

  private static final long LOW = 0xFFFF_FFFFL;

  private final AtomicLong head = new AtomicLong(word(0, NONE));
  private final AtomicLongArray nodes;

  /** An empty stack for indices from 0 to {@code capacity - 1}. */
  IndexStack(int capacity) {
    this.nodes = new AtomicLongArray(capacity);
  }

  /** Puts {@code index}, which is not on the stack and which the caller alone holds, on the top. */
  void push(int index) {
    while (true) {
      long current = head.get();
      int top = low(current);
      int below = top == NONE ? 0 : high(nodes.getAcquire(top));
      nodes.setRelease(index, word(below + 1, top));
      if (head.compareAndSet(current, word(high(current) + 1, index))) {
        return;
      }
    }
  }

  /** Takes the top, or answers {@link #NONE} if the stack is empty. */
  int pop() {
    while (true) {
      long current = head.get();
      int top = low(current);
      if (top == NONE) {
        return NONE;
      }
      int next = low(nodes.getAcquire(top));
      if (head.compareAndSet(current, word(high(current) + 1, next))) {
        return top;
      }
    }
  }

  /**
   * Takes everything at once. The caller walks what it got, from the answer along {@link #below},
   * before it pushes any of it.
   *
   * @return the former top, or {@link #NONE}
   */
  int takeAll() {
    while (true) {
      long current = head.get();
      int top = low(current);
      if (top == NONE || head.compareAndSet(current, word(high(current) + 1, NONE))) {
        return top;
      }
    }
  }

  /** The index below {@code index} in a chain that the caller got from {@link #takeAll}. */
  int below(int index) {
    return low(nodes.getAcquire(index));
  }

  /** Number of indices on the stack at one moment during the call. */
  int size() {
    long current = head.get();
    while (true) {
      int top = low(current);
      int size = top == NONE ? 0 : high(nodes.getAcquire(top));
      long again = head.get();
      if (again == current) {
        return size;
      }
      current = again;
    }
  }

  /** Whether nothing is on the stack now. */
  boolean isEmpty() {
    return low(head.get()) == NONE;
  }

  private static long word(int high, int low) {
    return ((long) high << 32) | (low & LOW);
  }

  private static int high(long word) {
    return (int) (word >>> 32);
  }

  private static int low(long word) {
    return (int) word;
  }
}
