// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.CredentialsSource;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.SessionCredentials;

/**
 * Sessions of a directory bucket (S3 Express One Zone), made by S3A's client. A session holds for
 * five minutes; S3E asks for the next one after half a minute of reads, so that a session that was
 * revoked, or credentials that were exchanged, are noticed as soon as those of other buckets are.
 *
 * <p>Holds nothing of the file system, which may be forgotten. One thread at a time resolves.
 */
final class BucketSessions implements CredentialsSource {
  private final S3Client client;
  private final AwsCredentialsProvider provider;
  private final String bucket;
  private volatile String owner;

  /**
   * @param provider has the credentials that {@code client} makes sessions with
   * @param owner the key that it has given last
   */
  BucketSessions(S3Client client, AwsCredentialsProvider provider, String bucket, String owner) {
    this.client = client;
    this.provider = provider;
    this.bucket = bucket;
    this.owner = owner;
  }

  @Override
  public Credentials resolve() {
    String key = provider.resolveCredentials().accessKeyId();
    SessionCredentials session =
        client.createSession(request -> request.bucket(bucket)).credentials();
    owner = key;
    return new Credentials(
        session.accessKeyId(),
        session.secretAccessKey(),
        session.sessionToken(),
        session.expiration());
  }

  @Override
  public String sessionsOf() {
    return owner;
  }
}
