/** JMH benchmarks of single parts, without network or file system. */
@NullMarked
package io.s3e.bench.micro;

import org.jspecify.annotations.NullMarked;
