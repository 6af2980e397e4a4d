// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * What a fuzz target is fed with in every build, without the fuzzing engine: the files of its
 * corpus, {@code src/test/fuzz/CLASS}, and random changes of them. A fuzz target is a class with a
 * method {@code fuzzerTestOneInput(byte[])}, which throws where the code under test breaks its
 * word; Jazzer calls it the same way.
 */
public final class FuzzCorpus {
  private static final int CHANGED = 500;

  private FuzzCorpus() {}

  /** A fuzz target's method. */
  @FunctionalInterface
  public interface Target {
    void fuzz(byte[] input) throws Exception;
  }

  /** Runs a target; an AssertionError has the input that it failed with. */
  public static void run(Class<?> owner, Target target) throws IOException {
    List<byte[]> corpus = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("src/test/fuzz", owner.getSimpleName()))) {
      for (Path file : files.sorted().toList()) {
        corpus.add(Files.readAllBytes(file));
      }
    }
    assertThat(corpus).as("corpus of %s", owner).isNotEmpty();
    corpus.forEach(input -> run(target, input));
    Random random = new Random(Seed.draw());
    for (int i = 0; i < CHANGED; i++) {
      run(target, changed(corpus.get(random.nextInt(corpus.size())), random));
    }
  }

  @SuppressWarnings("IllegalCatch")
  private static void run(Target target, byte[] input) {
    try {
      target.fuzz(input.clone());
    } catch (Throwable e) {
      throw new AssertionError("input " + HexFormat.of().formatHex(input), e);
    }
  }

  private static byte[] changed(byte[] input, Random random) {
    byte[] changed = Arrays.copyOf(input, Math.max(0, input.length + random.nextInt(9) - 4));
    for (int i = 1 + random.nextInt(4); i > 0 && changed.length > 0; i--) {
      int at = random.nextInt(changed.length);
      switch (random.nextInt(3)) {
        case 0 -> changed[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        case 1 -> changed[at] = (byte) random.nextInt();
        default -> {
          int from = random.nextInt(changed.length);
          int count = Math.min(random.nextInt(16), changed.length - Math.max(at, from));
          System.arraycopy(changed, from, changed, at, count);
        }
      }
    }
    return changed;
  }
}
