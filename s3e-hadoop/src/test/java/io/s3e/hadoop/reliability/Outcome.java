// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

/**
 * The end of one job.
 *
 * @param fault what went wrong
 * @param subject who read
 * @param style how was read
 * @param verdict how it ended
 * @param seconds how long that took
 * @param gets GETs that reached the server
 * @param detail the exception or the wrong byte; empty where all is right
 */
record Outcome(
    String fault,
    Subject subject,
    ReadStyle style,
    Verdict verdict,
    double seconds,
    long gets,
    String detail) {}
