package io.s3e.testing;

import java.util.concurrent.ThreadLocalRandom;

/** Where every random test has its seed from, so that each run can be repeated. */
public final class Seed {
  /** {@code -Ds3e.test.seed=N} repeats the run that printed it. */
  public static final String PROPERTY = "s3e.test.seed";

  private Seed() {}

  /** A new seed, or the one to be repeated; prints it with the name of the class that asks. */
  public static long draw() {
    Long given = Long.getLong(PROPERTY);
    long seed = given != null ? given : ThreadLocalRandom.current().nextLong();
    String test =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .getCallerClass()
            .getSimpleName();
    System.out.println(test + ": -D" + PROPERTY + "=" + seed);
    return seed;
  }
}
