// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.SharedRegionsRig.Found;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * A process that appends to shared regions as fast as it can, reads what all have appended, and
 * says when a byte is not what it should be. Arguments: the directory, a seed.
 */
final class SharedWriter {
  static final int OBJECTS = 40;
  static final int CHUNKS = 30;

  private final SharedRegionsRig rig;
  private final SplittableRandom random;
  private long written;
  private long read;

  private SharedWriter(SharedRegionsRig rig, long seed) {
    this.rig = rig;
    this.random = new SplittableRandom(seed);
  }

  static StoredObject object(SharedRegionsRig rig, int number) {
    return rig.object("object " + number, CHUNKS);
  }

  public static void main(String[] arguments) throws Exception {
    exitAtTheEndOfInput();
    try (SharedRegionsRig rig = new SharedRegionsRig(Path.of(arguments[0]))) {
      SharedWriter writer = new SharedWriter(rig, Long.parseLong(arguments[1]));
      System.out.println("begins");
      for (long rounds = 1; ; rounds++) {
        writer.round();
        if (rounds % 50 == 0) {
          System.out.println("counts " + writer.written + " " + writer.read);
        }
      }
    }
  }

  private void round() throws IOException {
    StoredObject object = object(rig, random.nextInt(OBJECTS));
    int first = random.nextInt(CHUNKS);
    int end = Math.min(CHUNKS, first + 1 + random.nextInt(8));
    rig.refresh();
    if (rig.index.presentFrom(object, first, first + 1) == 0) {
      for (int chunk = first; chunk < end && rig.append(object, chunk); chunk++) {
        written++;
      }
    }
    for (int i = 0; i < 8; i++) {
      read(object(rig, random.nextInt(OBJECTS)), random.nextInt(CHUNKS));
    }
  }

  private void read(StoredObject object, int chunk) throws IOException {
    Found found = rig.read(object, chunk);
    switch (found) {
      case RIGHT -> read++;
      case ABSENT -> {}
      // No disk fails here, so a broken seal means bytes that were believed too long.
      case BROKEN, WRONG -> System.out.println("WRONG " + found + " " + object + " " + chunk);
    }
  }

  /** A test that dies takes its processes with it. */
  private static void exitAtTheEndOfInput() {
    Thread watch =
        new Thread(
            () -> {
              try {
                System.in.transferTo(OutputStream.nullOutputStream());
              } catch (IOException e) {
                System.out.println("no input: " + e);
              }
              System.exit(0);
            });
    watch.setDaemon(true);
    watch.start();
  }
}
