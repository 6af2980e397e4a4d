package io.s3e.testing;

import java.util.concurrent.ThreadLocalRandom;

/** Where every random test has its seed from, so that each run can be repeated. */
public final class Seed {
  /** {@code -Ds3e.test.seed=N} repeats the run that printed it. */
  public static final String PROPERTY = "s3e.test.seed";

  private Seed() {}

  /** {@code -Ds3e.test.seed=random} draws new ones for tests that are the same in every build. */
  private static final String RANDOM = "random";

  private static final long OF_BUILDS = 20260201;

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
