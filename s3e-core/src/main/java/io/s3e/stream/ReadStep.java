package io.s3e.stream;

/** The steps of a read, of which the planner hears some. */
enum ReadStep {
  /** A moving position begins a read, or leaves the block it was in. */
  MOVE,
  /** A positioned read begins. */
  POSITIONED,
  /** A read goes on that the planner has been told of. */
  CONTINUATION
}
