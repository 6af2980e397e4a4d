@NullMarked
package io.s3e.bench.data;

import org.jspecify.annotations.NullMarked;
