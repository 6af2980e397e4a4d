/**
 * What reads cost, and what would save some of it: {@link io.s3e.hadoop.cost.Prices} makes a {@link
 * io.s3e.hadoop.cost.Bill} of counts, and {@link io.s3e.hadoop.cost.ReadAdvice} finds what is worth
 * a change. The Spark plugin and {@code s3e explain} say the same by it. Pure: no clock, no file
 * system. A leaf.
 */
@NullMarked
package io.s3e.hadoop.cost;

import org.jspecify.annotations.NullMarked;
