// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.S3E;
import io.s3e.jvm.OwnLoader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ref.Cleaner;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of one file system, or of one stream factory that stands alone. Made at the first
 * read, since many file systems never read; closed with its owner. Any thread.
 *
 * <p><b>States.</b> <i>Unmade</i>; <i>making</i>, on a thread of its own, because that asks the
 * network for credentials and region; <i>made</i>; <i>closed</i>. A making that fails leads back to
 * unmade, and the next read tries again. The lock guards these steps and is never held while
 * something is made, so {@link #close} returns at once: it ends the waits for the engine and
 * interrupts the making. An engine that is made nevertheless is closed by the thread that made it,
 * and that of an owner who has been forgotten by {@link Forgotten}: what is made does not lead back
 * to its owner.
 */
public final class ReadEngine implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(ReadEngine.class);

  /** Makes the engine when it is first needed; called once, unless it throws. */
  @FunctionalInterface
  public interface Maker {
    Made make() throws IOException;
  }

  /**
   * @param engine closed first
   * @param alsoClose what the engine's client used, closed after it
   */
  public record Made(S3E engine, Closeable alsoClose) implements Closeable {
    @Override
    public void close() throws IOException {
      try {
        engine.close();
      } finally {
        alsoClose.close();
      }
    }
  }

  /** Ends what is left of owners that nobody closed and nobody refers to, nor to their streams. */
  private record Forgotten(AtomicReference<@Nullable Made> left) implements Runnable {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Runs once, when its owner has become unreachable. */
    @Override
    public void run() {
      Made forgotten = left.getAndSet(null);
      if (forgotten == null) {
        return;
      }
      OpenEngines.toPast(forgotten.engine());
      try {
        forgotten.close();
      } catch (IOException | RuntimeException e) {
        LOG.debug("Closing what a file system that was forgotten has left", e);
      }
    }
  }

  static {
    HadoopHooks.use();
  }

  private static final long MOMENT_MILLIS = 1_000;

  private final String owner;
  private final Duration patience;
  private final Maker maker;

  // Guarded by this for writing.
  private @Nullable CompletableFuture<Made> making;
  private @Nullable Thread makingThread;
  private volatile @Nullable Made made;
  private volatile boolean closed;

  /** As {@link #made}, until that is closed. */
  private final AtomicReference<@Nullable Made> left = new AtomicReference<>();

  /**
   * @param owner what to call the file system in messages
   * @param patience how long a read waits for the engine to be made
   */
  public ReadEngine(String owner, Duration patience, Maker maker) {
    this.owner = owner;
    this.patience = patience;
    this.maker = maker;
    endForgotten(this, left);
  }

  /**
   * Ends what an owner leaves that nobody has closed, once nothing refers to it.
   *
   * @param left must not lead to the owner; null once the owner has closed it
   */
  public static void endForgotten(Object owner, AtomicReference<@Nullable Made> left) {
    var unused = Forgotten.CLEANER.register(owner, new Forgotten(left));
  }

  /**
   * The engine, made now if this is the first read.
   *
   * @param givenUp ends the wait when it completes
   * @throws IOException if its client cannot be made in time, the wait was ended, or the owner is
   *     closed
   */
  public S3E engine(CompletableFuture<?> givenUp) throws IOException {
    Made current = made;
    if (current != null && !closed) {
      return current.engine();
    }
    CompletableFuture<Made> underWay = making();
    if (underWay == null) {
      throw ownerClosed();
    }
    try {
      if (firstOf(CompletableFuture.anyOf(underWay, givenUp)) instanceof Made done) {
        return done.engine();
      }
      throw new IOException("The first read through " + this + " was given up");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException)
          new InterruptedIOException("interrupted while waiting for " + this).initCause(e);
    } catch (TimeoutException e) {
      String late =
          this + " was not made within " + patience.toMillis() + " ms (fs.s3a.s3e.read.timeout)";
      throw (IOException) new SocketTimeoutException(late).initCause(e);
    } catch (ExecutionException e) {
      throw unmade(Objects.requireNonNull(e.getCause()));
    }
  }

  /** Waits so many moments, since time in which the JVM stands still is nobody's patience. */
  private Object firstOf(CompletableFuture<Object> any)
      throws ExecutionException, InterruptedException, TimeoutException {
    for (long left = patience.toMillis(); ; left -= MOMENT_MILLIS) {
      try {
        return any.get(Math.min(left, MOMENT_MILLIS), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (left <= MOMENT_MILLIS) {
          throw e;
        }
      }
    }
  }

  /**
   * Begins to make the engine, since a read is likely to follow: beside what the opener asks of the
   * store meanwhile. Does not wait; a failure is told to the read that comes.
   */
  public void prepare() {
    if (made == null) {
      CompletableFuture<Made> unused = making();
    }
  }

  /**
   * Runs {@code then} with the engine: now, or on the thread that makes it. Never, if it cannot be
   * made; then the read that comes hears why.
   */
  public void whenMade(Consumer<S3E> then) {
    Made current = made;
    if (current != null) {
      then.accept(current.engine());
      return;
    }
    CompletableFuture<Made> underWay = making();
    if (underWay != null) {
      var unused = underWay.thenAccept(done -> then.accept(done.engine()));
    }
  }

  /** Null once the owner is closed. */
  private synchronized @Nullable CompletableFuture<Made> making() {
    if (closed) {
      return null;
    }
    CompletableFuture<Made> underWay = making;
    if (underWay == null) {
      CompletableFuture<Made> started = new CompletableFuture<>();
      Thread thread = OwnLoader.thread(() -> make(started), "s3e-first-read " + owner);
      // Before it is noted: a JVM that has no thread to give has one for the next read.
      thread.start();
      makingThread = thread;
      making = started;
      return started;
    }
    return underWay;
  }

  // An error of linkage goes to the threads that wait as well; nobody else would hear of it.
  @SuppressWarnings("IllegalCatch")
  private void make(CompletableFuture<Made> result) {
    Made fresh = null;
    Throwable failure = null;
    try {
      fresh = maker.make();
    } catch (Throwable e) {
      failure = e;
    }
    boolean wanted;
    synchronized (this) {
      makingThread = null;
      wanted = !closed;
      if (fresh == null) {
        making = null;
      } else if (wanted) {
        made = fresh;
        left.set(fresh);
        OpenEngines.opened(this, fresh.engine());
      }
    }
    if (failure != null) {
      result.completeExceptionally(failure);
    } else if (wanted) {
      result.complete(fresh);
    } else if (fresh != null) {
      try {
        fresh.close();
      } catch (IOException | RuntimeException e) {
        LOG.debug("Closing what was made for {} after its end", owner, e);
      }
    }
  }

  /** Told to the read, whose exception is S3A's for the same by {@link FailureTranslation}. */
  private IOException unmade(Throwable failure) {
    return failure instanceof IOException io
        ? io
        : new IOException("Cannot make S3E's client for " + owner + ": " + failure, failure);
  }

  private IOException ownerClosed() {
    return new IOException("Filesystem closed: " + owner);
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
      current = left.getAndSet(null);
      if (makingThread != null) {
        makingThread.interrupt();
      }
      if (making != null) {
        making.completeExceptionally(ownerClosed());
      }
    }
    if (current != null) {
      try {
        current.close();
      } finally {
        OpenEngines.closed(this);
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
