package io.s3e.fetch;

import io.s3e.block.BlockRange;

/**
 * A run that can be fetched as one: adjacent blocks that are absent from memory and have one
 * source. Said once, by {@link Resolver}; admission and the fetch go by it and do not ask again.
 *
 * @param blocks at least one, and no more than one GET brings
 * @param source where the bytes are to be looked for
 */
record Run(ObjectHandle handle, BlockRange blocks, Source source) {}
