@NullMarked
package io.s3e.bench.report;

import org.jspecify.annotations.NullMarked;
