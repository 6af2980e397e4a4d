@NullMarked
package io.s3e.bench.plain;

import org.jspecify.annotations.NullMarked;
