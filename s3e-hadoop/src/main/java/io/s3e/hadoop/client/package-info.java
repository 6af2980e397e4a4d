/**
 * S3A's side of a request, and the clients that fetch: {@link
 * io.s3e.hadoop.client.FileSystemClients} chooses, {@link io.s3e.hadoop.client.ReadEngine} holds
 * the engine of one file system, decorators add audit headers and change detection, and {@link
 * io.s3e.hadoop.client.FailureTranslation} gives callers S3A's exceptions.
 */
@NullMarked
package io.s3e.hadoop.client;

import org.jspecify.annotations.NullMarked;
