/**
 * Where an engine's cache on local disk may lie and under which secret, and the one place that
 * makes engines: {@link io.s3e.hadoop.cache.EngineFactory}.
 */
@NullMarked
package io.s3e.hadoop.cache;

import org.jspecify.annotations.NullMarked;
