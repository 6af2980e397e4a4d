// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

/** Takes each GET of an engine. Any thread; nothing here may block, but {@link #close}. */
public interface GetSink extends AutoCloseable {
  /**
   * Nothing more is to become of the GET, or the engine ends. What comes again, since its client
   * says late that it went out, takes the place of what it was.
   */
  void take(GetRecord get);

  /** No GET comes any more. Waits a bounded time. */
  @Override
  void close();
}
