// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that {@code ./mvnw verify -Pquick} leaves out: it starts a process, goes through a matrix
 * of faults, clients or versions, waits for real time-outs, or takes more than about a second. On a
 * class, it is so for all tests of it and of its subclasses.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Tag("slow")
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Slow {}
