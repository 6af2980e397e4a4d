// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

/**
 * The aws-crt that the copies of S3E in all class loaders of this JVM share, as operators see it.
 * Attributes alone: whoever reaches the MBean server, from another process too, may look and can do
 * nothing.
 */
public interface AwsCrtMBean {
  /** The version of aws-crt. */
  String getVersion();

  /** The bundle jar that it was read from. */
  String getJar();
}
