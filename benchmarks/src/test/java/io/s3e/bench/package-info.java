@NullMarked
package io.s3e.bench;

import org.jspecify.annotations.NullMarked;
