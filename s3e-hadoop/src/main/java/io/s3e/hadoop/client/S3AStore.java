// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.ClientProvider;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.given.BlockingStore;
import io.s3e.client.given.SyncObjectClient;
import io.s3e.hadoop.conf.AdapterConfig;
import java.io.IOException;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * S3A's own client as a source of bytes: each request goes through the callbacks of the stream that
 * caused it, in that stream's audit span, with all that S3A's client carries, and as the user whose
 * file system it is ({@link AsUser}).
 */
public final class S3AStore implements BlockingStore {
  private final UserGroupInformation user;

  private S3AStore(UserGroupInformation user) {
    this.user = user;
  }

  /**
   * Clients with threads of their own, for S3A's pool is shared with uploads.
   *
   * @param user of the file system
   * @param policy what counts as a change of an object
   */
  public static ClientProvider provider(UserGroupInformation user, ChangeDetectionPolicy policy) {
    return provider(user, policy, AdapterConfig.CLIENT_THREADS);
  }

  /**
   * As above, for {@code requests} at once. A client of that kind lets requests wait for a thread,
   * so half as many threads will do.
   */
  static ClientProvider provider(
      UserGroupInformation user, ChangeDetectionPolicy policy, int requests) {
    int threads = Math.max(AdapterConfig.CLIENT_THREADS, (requests + 1) / 2);
    S3AStore store = new S3AStore(user);
    return memory ->
        RevisionCheckingClient.over(
            new SyncObjectClient(store, "s3a", threads, memory.requestBytes()), policy);
  }

  @Override
  public ResponseInputStream<GetObjectResponse> get(GetRequest request) throws IOException {
    StreamRequests stream = stream(request.context());
    GetObjectRequest.Builder builder = stream.newGetRequestBuilder(request.object().key());
    return send(
        stream,
        builder
            .range(request.range().httpHeader())
            .ifMatch(request.etag())
            .versionId(request.versionId())
            .build());
  }

  /** By a GET that is dropped after its head: the callbacks know no HEAD, and S3A sends its own. */
  @Override
  public ObjectHead head(HeadRequest request) throws IOException {
    StreamRequests stream = stream(request.context());
    ResponseInputStream<GetObjectResponse> answer =
        send(
            stream,
            stream
                .newGetRequestBuilder(request.object().key())
                .versionId(request.versionId())
                .build());
    answer.abort();
    GetObjectResponse head = answer.response();
    return new ObjectHead(
        head.contentLength(), head.eTag(), head.versionId(), head.contentEncoding());
  }

  private ResponseInputStream<GetObjectResponse> send(
      StreamRequests stream, GetObjectRequest request) throws IOException {
    return AsUser.call(user, () -> stream.getObject(request));
  }

  private static StreamRequests stream(@Nullable Object context) {
    if (context instanceof StreamRequests requests) {
      return requests;
    }
    throw new IllegalStateException("a request without its stream's callbacks: " + context);
  }
}
