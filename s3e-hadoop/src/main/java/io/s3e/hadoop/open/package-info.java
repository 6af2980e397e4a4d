/** What is fetched of a file before it is opened, since a task has announced it. */
@NullMarked
package io.s3e.hadoop.open;

import org.jspecify.annotations.NullMarked;
