@NullMarked
package io.s3e.bench.process;

import org.jspecify.annotations.NullMarked;
