/**
 * What reads did, by stage and executor: counted by task, sent to the driver, posted as events, and
 * added up again from these events.
 */
@NullMarked
package io.s3e.spark.stages;

import org.jspecify.annotations.NullMarked;
