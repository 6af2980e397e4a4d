@NullMarked
package io.s3e.bench.server;

import org.jspecify.annotations.NullMarked;
