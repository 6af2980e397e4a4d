/**
 * The command {@code s3e doctor}, which is also what {@code java -jar} and {@code hadoop jar} do
 * with the bundle: what is on the class path, whether S3E would read which bucket and by what, and
 * what is to be done where it would not.
 *
 * <p>{@code DoctorProgram}, {@code Arguments}, {@code Report} and {@code ClassPath} need nothing
 * but the JDK. {@code NativeLibrary} needs SLF4J, and {@code HadoopChecks} and what it uses need
 * Hadoop; {@code DoctorProgram} asks them only where {@code ClassPath} has found those.
 */
@NullMarked
package io.s3e.hadoop.doctor;

import org.jspecify.annotations.NullMarked;
