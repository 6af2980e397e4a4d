package io.s3e.buffer;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.s3e.testing.Programs;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The stack of free buffers behaves as if each call happened at one instant: every index is popped
 * by one thread, last in first out, and the size is exact. Each thread pushes only what it has
 * popped, as in the pool; so the same indices come and go all the time, which is where an ABA would
 * show. (Lincheck 3.7 switches threads before a {@code compareAndSet}, but not before a {@code
 * compareAndExchange}: code that is to be checked uses the former.)
 */
@Param(name = "me", gen = ThreadIdGen.class)
@Tag("lincheck")
public class IndexStackLincheckTest {
  private static final int INDICES = 3;
  private static final int MAX_THREADS = 8;

  private final IndexStack stack = new IndexStack(INDICES);
  private final List<Deque<Integer>> mine = emptyHands();

  public IndexStackLincheckTest() {
    for (int i = 0; i < INDICES; i++) {
      stack.push(i);
    }
  }

  @Operation
  public int pop(@Param(name = "me") int me) {
    int index = stack.pop();
    if (index != IndexStack.NONE) {
      mine.get(me).add(index);
    }
    return index;
  }

  @Operation
  public int push(@Param(name = "me") int me) {
    Integer index = mine.get(me).poll();
    if (index == null) {
      return IndexStack.NONE;
    }
    stack.push(index);
    return index;
  }

  @Operation
  public String takeAll(@Param(name = "me") int me) {
    List<Integer> taken = new ArrayList<>();
    for (int i = stack.takeAll(); i != IndexStack.NONE; i = stack.below(i)) {
      taken.add(i);
    }
    mine.get(me).addAll(taken);
    return taken.toString();
  }

  @Operation
  public int size() {
    return stack.size();
  }

  @Test
  void shortProgramsAreLinearizable() {
    new Programs(IndexStackLincheckTest.class)
        .with("", "pop pop", "pop", "takeAll push")
        .with("", "pop size", "pop", "pop pop push")
        .with("pop pop", "pop", "push pop", "pop size")
        .with("takeAll", "pop", "push push", "pop takeAll")
        .check(
            new ModelCheckingOptions()
                .checkObstructionFreedom(true)
                .addGuarantee(
                    forClasses("java.util.ArrayDeque", "java.util.ArrayList").allMethods().ignore())
                .actorsPerThread(2)
                .actorsBefore(2)
                .actorsAfter(2),
            4,
            300);
  }

  private static List<Deque<Integer>> emptyHands() {
    List<Deque<Integer>> hands = new ArrayList<>();
    for (int i = 0; i < MAX_THREADS; i++) {
      hands.add(new ArrayDeque<>());
    }
    return hands;
  }

  /** The same calls, one at a time. */
  public static class Sequential {
    private final Deque<Integer> stack = new ArrayDeque<>();
    private final List<Deque<Integer>> mine = emptyHands();

    public Sequential() {
      for (int i = 0; i < INDICES; i++) {
        stack.push(i);
      }
    }

    public int pop(int me) {
      Integer index = stack.poll();
      if (index == null) {
        return IndexStack.NONE;
      }
      mine.get(me).add(index);
      return index;
    }

    public int push(int me) {
      Integer index = mine.get(me).poll();
      if (index == null) {
        return IndexStack.NONE;
      }
      stack.push(index);
      return index;
    }

    public String takeAll(int me) {
      List<Integer> taken = new ArrayList<>(stack);
      stack.clear();
      mine.get(me).addAll(taken);
      return taken.toString();
    }

    public int size() {
      return stack.size();
    }
  }
}
