package io.s3e.hadoop.open;

import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a file that is about to be opened.
 *
 * @param status stands for the HEAD of the opening; null if S3 has to be asked
 * @param announced what was fetched of it; null if nothing
 */
public record KnownFile(@Nullable S3AFileStatus status, @Nullable AnnouncedFile announced) {}
