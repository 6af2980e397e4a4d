// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import io.s3e.testserver.S3TestServer;
import java.net.URI;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * An {@link S3TestServer} with a client to prepare data. Signed, it checks signatures; anonymous,
 * it takes any request.
 *
 * <p>As a JUnit extension, {@code @RegisterExtension static final S3ProxyServer S3 =
 * S3ProxyServer.signed()}, it lives as long as the test class; otherwise call {@link #start} and
 * {@link #close}. Its threads are not daemons, so it must be closed.
 */
public final class S3ProxyServer implements BeforeAllCallback, AfterAllCallback, AutoCloseable {
  public static final String ACCESS_KEY = S3TestServer.ACCESS_KEY;
  public static final String SECRET_KEY = S3TestServer.SECRET_KEY;
  public static final String REGION = "us-east-1";

  private final boolean signed;
  private S3TestServer server;
  private S3Client s3;

  private S3ProxyServer(boolean signed) {
    this.signed = signed;
  }

  /** A server, not started, that accepts only requests signed with its keys. */
  public static S3ProxyServer signed() {
    return new S3ProxyServer(true);
  }

  /** A server, not started, that accepts unsigned requests. */
  public static S3ProxyServer anonymous() {
    return new S3ProxyServer(false);
  }

  /** Starts the server; returns when it answers. */
  public S3ProxyServer start() throws Exception {
    server = signed ? S3TestServer.inMemory() : S3TestServer.inMemoryAnonymous();
    s3 =
        S3Client.builder()
            .endpointOverride(endpoint())
            .region(Region.of(REGION))
            .credentialsProvider(credentials())
            .forcePathStyle(true)
            .httpClient(ApacheHttpClient.create())
            .build();
    return this;
  }

  /** {@code http://127.0.0.1:PORT}; to be used path-style. */
  public URI endpoint() {
    return server.endpoint();
  }

  /** The keys the server knows. */
  public AwsCredentialsProvider credentials() {
    return StaticCredentialsProvider.create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY));
  }

  /** A plain client to prepare data with; closed with the server. */
  public S3Client s3() {
    return s3;
  }

  /** Creates a bucket. */
  public void createBucket(String bucket) {
    s3.createBucket(request -> request.bucket(bucket));
  }

  /** Writes an object and returns its ETag, quotes included. */
  public String put(String bucket, String key, byte[] content) {
    return s3.putObject(request -> request.bucket(bucket).key(key), RequestBody.fromBytes(content))
        .eTag();
  }

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    start();
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    close();
  }

  @Override
  public void close() throws Exception {
    if (s3 != null) {
      s3.close();
    }
    if (server != null) {
      server.close();
    }
  }
}
