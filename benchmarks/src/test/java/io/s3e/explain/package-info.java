@NullMarked
package io.s3e.explain;

import org.jspecify.annotations.NullMarked;
