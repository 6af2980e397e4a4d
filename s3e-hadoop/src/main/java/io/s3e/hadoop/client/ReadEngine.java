package io.s3e.hadoop.client;

import io.s3e.S3E;
import io.s3e.jvm.JvmEnd;
import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one file system, or of one stream factory that stands alone. Made at the first
 * read, since many file systems never read; closed with its owner. Any thread.
 */
public final class ReadEngine implements Closeable {
  /** Makes the engine when it is first needed; called once, unless it throws. */
  @FunctionalInterface
  public interface Maker {
    Made make() throws IOException;
  }

  /**
   * @param engine closed first
   * @param alsoClose what the engine's client used, closed after it
   */
  public record Made(S3E engine, Closeable alsoClose) {}

  static {
    JvmEnd.enterHooksBy(new HadoopHooks());
  }

  private final String owner;
  private final Maker maker;

  // Guarded by this for writing.
  private volatile @Nullable Made made;
  private volatile boolean closed;

  /**
   * @param owner what to call the file system in messages
   */
  public ReadEngine(String owner, Maker maker) {
    this.owner = owner;
    this.maker = maker;
  }

  /**
   * The engine, made now if this is the first read.
   *
   * @throws IOException if its client cannot be made, or the owner is closed
   */
  public S3E engine() throws IOException {
    Made current = made;
    return current != null && !closed ? current.engine() : make();
  }

  private synchronized S3E make() throws IOException {
    if (closed) {
      throw new IOException("Filesystem closed: " + owner);
    }
    Made current = made;
    if (current == null) {
      current = maker.make();
      made = current;
    }
    return current.engine();
  }

  /** The engine if something has been read; null before. */
  public @Nullable S3E ifMade() {
    Made current = made;
    return current == null ? null : current.engine();
  }

  /** Ends all reads through the engine. Idempotent. */
  @Override
  public void close() throws IOException {
    Made current;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      current = made;
    }
    if (current != null) {
      try {
        current.engine().close();
      } finally {
        current.alsoClose().close();
      }
    }
  }

  @Override
  public String toString() {
    Made current = made;
    return current == null
        ? "S3E of " + owner + " (nothing read yet)"
        : "S3E of " + owner + " by " + current.engine().client().name();
  }
}
