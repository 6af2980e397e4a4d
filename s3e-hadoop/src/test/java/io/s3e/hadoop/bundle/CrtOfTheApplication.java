// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import java.net.URI;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.crt.auth.signing.AwsSigningConfig;
import software.amazon.awssdk.crt.http.HttpRequest;
import software.amazon.awssdk.crt.io.ClientBootstrap;
import software.amazon.awssdk.crt.io.EventLoopGroup;
import software.amazon.awssdk.crt.io.HostResolver;
import software.amazon.awssdk.crt.s3.S3Client;
import software.amazon.awssdk.crt.s3.S3ClientOptions;
import software.amazon.awssdk.crt.s3.S3FinishedResponseContext;
import software.amazon.awssdk.crt.s3.S3MetaRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions.MetaRequestType;
import software.amazon.awssdk.crt.s3.S3MetaRequestResponseHandler;

/** An application with an aws-crt of its own, in calls that 0.33 and 0.50 have alike. */
final class CrtOfTheApplication {
  private static final long PATIENCE_SECONDS = 30;

  private CrtOfTheApplication() {}

  static String version() {
    return CRT.class.getPackage().getImplementationVersion();
  }

  /** Reads the object by one signed GET and gives the number of its bytes. */
  static long read(URI endpoint, String path, long length, String accessKey, String secretKey)
      throws Exception {
    StaticCredentialsProvider credentials =
        new StaticCredentialsProvider.StaticCredentialsProviderBuilder()
            .withAccessKeyId(accessKey.getBytes())
            .withSecretAccessKey(secretKey.getBytes())
            .build();
    try (EventLoopGroup loops = new EventLoopGroup(1);
        HostResolver resolver = new HostResolver(loops);
        ClientBootstrap bootstrap = new ClientBootstrap(loops, resolver);
        credentials;
        AwsSigningConfig signing =
            AwsSigningConfig.getDefaultS3SigningConfig("us-east-1", credentials)) {
      S3Client client =
          new S3Client(
              new S3ClientOptions()
                  .withRegion("us-east-1")
                  .withClientBootstrap(bootstrap)
                  .withSigningConfig(signing));
      CompletableFuture<Void> ended = client.getShutdownCompleteFuture();
      try (client) {
        return read(client, endpoint, path, length);
      } finally {
        ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  private static long read(S3Client client, URI endpoint, String path, long length)
      throws Exception {
    HttpRequest request = new HttpRequest("GET", path);
    request.addHeader("Host", endpoint.getAuthority());
    request.addHeader("Range", "bytes=0-" + (length - 1));
    Counting counting = new Counting();
    try (S3MetaRequest get =
        client.makeMetaRequest(
            new S3MetaRequestOptions()
                .withMetaRequestType(MetaRequestType.GET_OBJECT)
                .withEndpoint(endpoint)
                .withHttpRequest(request)
                .withResponseHandler(counting))) {
      return counting.result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static final class Counting implements S3MetaRequestResponseHandler {
    final CompletableFuture<Long> result = new CompletableFuture<>();
    private long bytes;

    @Override
    public int onResponseBody(ByteBuffer body, long start, long end) {
      bytes += body.remaining();
      return 0;
    }

    @Override
    public void onFinished(S3FinishedResponseContext context) {
      if (context.getErrorCode() == 0) {
        result.complete(bytes);
      } else {
        result.completeExceptionally(
            new IllegalStateException(CRT.awsErrorName(context.getErrorCode())));
      }
    }
  }
}
