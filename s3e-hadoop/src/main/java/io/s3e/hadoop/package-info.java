/**
 * S3E under S3A. {@link io.s3e.hadoop.S3EFileSystem} is an S3AFileSystem whose open files are read
 * by S3E; everything else stays S3A's.
 *
 * <pre>
 * S3EFileSystem.open -> stream.S3EHadoopInputStream -> io.s3e.stream.S3EInputStream
 *      | one client.ReadEngine a file system: S3E over its own client, or over S3A's
 * S3EStreamFactory: the same streams in a plain S3AFileSystem, over S3A's client only
 * </pre>
 *
 * <p>Imports go downward: this package, {@code hadoop341}, {@code stream}, {@code client}, {@code
 * cache}, {@code conf}; {@code stats} is a leaf. {@code ArchitectureTest} holds every build to it,
 * and to the list of S3A's non-public types that each package may name.
 *
 * <p>One jar runs on Hadoop 3.4.1 and later. The stream SPI came with 3.4.2, so only {@link
 * io.s3e.hadoop.S3EStreamFactory}, {@code S3EObjectInputStream} and {@code SpiStreamRequests} name
 * its types, and nothing loads them on 3.4.1.
 */
@NullMarked
package io.s3e.hadoop;

import org.jspecify.annotations.NullMarked;
