// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.hadoop.history.OpenedFile;
import io.s3e.hadoop.open.AnnouncedFile;
import io.s3e.hadoop.stats.OpenerStatistics;
import org.jspecify.annotations.Nullable;

/**
 * What a file system tells a stream beside what S3A does.
 *
 * @param hints of {@code openFile()}
 * @param opener counts for the opening thread: {@code openFile()} opens on another thread, where
 *     S3A takes that thread's
 * @param announced what was fetched of the file before; null if nothing
 * @param history what past runs of the job tell of the file
 */
public record Opening(
    OpenHints hints,
    OpenerStatistics opener,
    @Nullable AnnouncedFile announced,
    OpenedFile history) {}
