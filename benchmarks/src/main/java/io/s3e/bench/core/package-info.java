/**
 * S3E's core behind Hadoop's interface without S3E's adapter, so that it can be measured over a
 * form of its client that the adapter does not offer.
 */
@NullMarked
package io.s3e.bench.core;

import org.jspecify.annotations.NullMarked;
