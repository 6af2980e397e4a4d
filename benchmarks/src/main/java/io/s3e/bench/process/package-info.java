/**
 * Child JVMs that are spoken to in lines of JSON: the server and the engines each run in one, so
 * that their processor time and memory are their own.
 */
@NullMarked
package io.s3e.bench.process;

import org.jspecify.annotations.NullMarked;
