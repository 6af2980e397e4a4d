// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

/**
 * An aws-crt that has begun. This class is defined beside aws-crt, by {@link AwsCrtLoader}: the
 * class loader of the object is what it stands for, and it uses no other class of S3E's.
 */
record AwsCrt(String getVersion, String getJar) implements AwsCrtMBean {}
