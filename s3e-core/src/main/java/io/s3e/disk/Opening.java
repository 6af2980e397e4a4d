package io.s3e.disk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The opening of one directory, on a thread of its own, because the disk may hang. It is waited for
 * or abandoned; a directory that is opened after that is closed again. Any thread.
 */
final class Opening {
  private static final Logger LOG = LoggerFactory.getLogger(Opening.class);

  private final Path directory;
  private final CompletableFuture<RegionStore> opened = new CompletableFuture<>();

  Opening(Path directory, Callable<RegionStore> opening) {
    this.directory = directory;
    Thread unused =
        Background.start(
            "s3e-disk-open",
            () -> {
              try {
                RegionStore result = opening.call();
                if (!opened.complete(result)) {
                  result.close();
                }
              } catch (Exception | Error e) {
                opened.completeExceptionally(e);
              }
            });
  }

  /**
   * Waits for the directory.
   *
   * @param deadline by {@link System#nanoTime()}
   * @return null if it cannot be used, which is logged
   * @throws RefusedDirectoryException if it must not be used
   */
  @Nullable RegionStore await(long deadline) throws RefusedDirectoryException {
    try {
      return opened.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      leaveOut("it hangs");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      leaveOut("interrupted while it was opened");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RefusedDirectoryException refusal) {
        throw refusal;
      }
      leaveOut(String.valueOf(e.getCause()));
    }
    return null;
  }

  private void leaveOut(String why) {
    LOG.warn("Nothing is cached in {}: {}", directory, why);
    abandon();
  }

  /** Nobody wants the directory any more. */
  void abandon() {
    if (!opened.completeExceptionally(new IOException("abandoned"))
        && !opened.isCompletedExceptionally()) {
      opened.join().close();
    }
  }
}
