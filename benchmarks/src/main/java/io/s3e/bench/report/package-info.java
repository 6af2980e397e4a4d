/** The output of a comparison: the table on the terminal, and JSON, HTML and PNG files. */
@NullMarked
package io.s3e.bench.report;

import org.jspecify.annotations.NullMarked;
