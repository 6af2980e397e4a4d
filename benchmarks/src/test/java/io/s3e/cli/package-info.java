@NullMarked
package io.s3e.cli;

import org.jspecify.annotations.NullMarked;
