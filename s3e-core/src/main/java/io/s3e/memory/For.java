package io.s3e.memory;

/** Those for whom memory is asked. */
public enum For {
  /** A reader that waits for the bytes. */
  READER,
  /** Nobody yet: the bytes are a guess at what will be read. */
  GUESS
}
