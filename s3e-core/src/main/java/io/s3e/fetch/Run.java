package io.s3e.fetch;

import io.s3e.block.BlockRange;

/**
 * A run that can be fetched as one: adjacent blocks, of which the first and the last are absent.
 * Said once, by {@link Resolver}; admission and the fetch go by it and do not ask again.
 *
 * @param blocks at least one, and no more than one GET brings
 */
record Run(ObjectHandle handle, BlockRange blocks) {}
