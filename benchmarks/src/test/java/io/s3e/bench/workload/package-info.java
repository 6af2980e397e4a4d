@NullMarked
package io.s3e.bench.workload;

import org.jspecify.annotations.NullMarked;
