// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

/**
 * How much the workloads read, as the user asked.
 *
 * @param bytes length of the text object, and of what all streams read together
 * @param randomBytes how much a run of positioned reads brings at most
 * @param seekBytes how much a run of seeks to and fro, or to anywhere, brings
 * @param smallObjects how many small objects there are
 */
public record WorkloadSizes(long bytes, long randomBytes, long seekBytes, int smallObjects) {}
