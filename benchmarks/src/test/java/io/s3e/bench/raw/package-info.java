@NullMarked
package io.s3e.bench.raw;

import org.jspecify.annotations.NullMarked;
