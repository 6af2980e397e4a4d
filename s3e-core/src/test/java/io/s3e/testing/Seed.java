// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Where every random test has its seed from, so that each run can be repeated. */
public final class Seed {
  /** {@code -Ds3e.test.seed=N} repeats the run that printed it. */
  public static final String PROPERTY = "s3e.test.seed";

  private Seed() {}

  /** {@code -Ds3e.test.seed=random} draws new ones for tests that are the same in every build. */
  private static final String RANDOM = "random";

  private static final long OF_BUILDS = 20260201;

  private static final int LAST_STEPS = 20;

  /** A new seed, or the one to be repeated; prints it with the name of the class that asks. */
  public static long draw() {
    return printed(Long.getLong(PROPERTY, ThreadLocalRandom.current().nextLong()));
  }

  /**
   * The same seed in every build, for tests that read thousands of faults through clients which are
   * not ours: a build is to say whether a change broke something, and not what nobody has seen yet.
   * That is looked for with {@code -Ds3e.test.seed=random}, and repeated with the number printed.
   */
  public static long ofBuilds() {
    boolean isRandom = RANDOM.equals(System.getProperty(PROPERTY));
    long usual = isRandom ? ThreadLocalRandom.current().nextLong() : OF_BUILDS;
    return printed(Long.getLong(PROPERTY, usual));
  }

  /**
   * The failure of a random program: its seed, how it was made, and its last steps.
   *
   * @param log how it was made, then its steps
   */
  public static AssertionError failure(long seed, List<String> log, Throwable cause) {
    int from = Math.max(1, log.size() - LAST_STEPS);
    String steps = String.join("\n", log.subList(from, log.size()));
    return new AssertionError("seed " + seed + "\n" + log.get(0) + "\n" + steps, cause);
  }

  private static long printed(long seed) {
    String test =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .walk(
                frames ->
                    frames
                        .map(StackWalker.StackFrame::getDeclaringClass)
                        .filter(each -> each != Seed.class)
                        .findFirst()
                        .map(Class::getSimpleName)
                        .orElse("?"));
    System.out.println(test + ": -D" + PROPERTY + "=" + seed);
    return seed;
  }
}
