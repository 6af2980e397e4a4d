package io.s3e.testing;

import java.net.URI;
import java.util.Properties;
import org.gaul.s3proxy.BlobStores;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
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
 * A real S3 protocol server (S3Proxy, in memory) inside the test JVM, on a free port of the
 * loopback interface. Signed, it checks signatures; anonymous, it takes any request.
 *
 * <p>As a JUnit extension, {@code @RegisterExtension static final S3ProxyServer S3 =
 * S3ProxyServer.signed()}, it lives as long as the test class; otherwise call {@link #start} and
 * {@link #close}. Its threads are not daemons, so it must be closed.
 */
public final class S3ProxyServer implements BeforeAllCallback, AfterAllCallback, AutoCloseable {
  public static final String ACCESS_KEY = "access";
  public static final String SECRET_KEY = "secret-of-the-tests";
  public static final String REGION = "us-east-1";

  private final AuthenticationType authentication;
  private S3Proxy proxy;
  private S3Client s3;

  private S3ProxyServer(AuthenticationType authentication) {
    this.authentication = authentication;
  }

  /** A server, not started, that accepts only requests signed with its keys. */
  public static S3ProxyServer signed() {
    return new S3ProxyServer(AuthenticationType.AWS_V2_OR_V4);
  }

  /** A server, not started, that accepts unsigned requests. */
  public static S3ProxyServer anonymous() {
    return new S3ProxyServer(AuthenticationType.NONE);
  }

  /** Starts the server; returns when it answers. */
  public S3ProxyServer start() throws Exception {
    S3Proxy.Builder builder =
        S3Proxy.builder()
            .blobStore(BlobStores.create("transient-nio2", new Properties()))
            .endpoint(URI.create("http://127.0.0.1:0"));
    if (authentication != AuthenticationType.NONE) {
      builder.awsAuthentication(authentication, ACCESS_KEY, SECRET_KEY);
    }
    proxy = builder.build();
    proxy.start();
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
    return URI.create("http://127.0.0.1:" + proxy.getPort());
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
    if (proxy != null) {
      proxy.stop();
    }
  }
}
