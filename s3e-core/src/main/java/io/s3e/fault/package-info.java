/**
 * The policy after failed requests, and the gate before requests to a store that refuses them.
 * Knows no run, no memory and no reader.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.fault;

import org.jspecify.annotations.NullMarked;
