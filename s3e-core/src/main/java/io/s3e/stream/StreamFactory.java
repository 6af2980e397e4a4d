package io.s3e.stream;

/** Makes the streams of an engine, which applications have no part in. */
public final class StreamFactory {
  private StreamFactory() {}

  /** A stream over {@code source} that reads what {@code reader} has opened. */
  public static S3EInputStream open(StreamSource source, BlockReader reader) {
    return new S3EInputStream(source, reader);
  }
}
