package io.s3e.disk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The opening of one directory, on a thread of its own, because the disk may hang. It is waited for
 * or abandoned; a directory that is opened after that is closed again. Any thread.
 */
final class Opening {
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
   * @throws IOException if it cannot or must not be used, naming it and why
   */
  RegionStore await(long deadline) throws IOException {
    try {
      return opened.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw leftOut("it hangs", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw leftOut("interrupted while it was opened", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw leftOut(
          cause instanceof RefusedDirectoryException refusal
              ? String.valueOf(refusal.getMessage())
              : String.valueOf(cause),
          cause);
    }
  }

  private IOException leftOut(String why, @Nullable Throwable cause) {
    abandon();
    return new IOException(directory + ": " + why, cause);
  }

  /** Nobody wants the directory any more. */
  void abandon() {
    if (!opened.completeExceptionally(new IOException("abandoned"))
        && !opened.isCompletedExceptionally()) {
      opened.join().close();
    }
  }
}
