// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import java.util.OptionalLong;

/**
 * What Spark says of a stage.
 *
 * @param name the place in the program that it comes from
 * @param status Spark's word for it, in lower case
 * @param tasksDone tasks that ended well
 * @param tasks tasks that the stage has
 * @param wallMillis from submission to completion; empty while it runs
 */
record StageFacts(String name, String status, int tasksDone, int tasks, OptionalLong wallMillis) {}
