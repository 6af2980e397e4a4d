// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import io.s3e.client.library.CrtSettings;
import io.s3e.jvm.Background;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.http.HttpRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions.MetaRequestType;

/**
 * Turns requests for objects into HTTP messages: buckets and keys into hosts and paths. Hosts come
 * from {@link Endpoints}, asked once for each bucket, and once more for a bucket that turns out to
 * be in another region ({@link #follow}). Keys are percent-encoded as S3's canonical URI wants,
 * since the signature covers the path as sent. Thread-safe.
 */
final class Addressing {
  private static final Logger LOG = LoggerFactory.getLogger(Addressing.class);

  /**
   * Where one bucket answers: scheme, host and port; the Host header; the encoded path before the
   * key, without a slash at its end; the region that requests are signed for; whether by a session.
   */
  record Target(URI endpoint, String host, String pathPrefix, String region, boolean isDirectory) {}

  private final CrtSettings settings;
  private final ConcurrentHashMap<String, Target> targets = new ConcurrentHashMap<>();

  Addressing(CrtSettings settings) {
    this.settings = settings;
  }

  Target target(String bucket) {
    return targets.computeIfAbsent(bucket, name -> resolve(name, settings.region()));
  }

  /**
   * Whether a refused request is to be sent again because the store has named another region for
   * the bucket. The first such answer moves the bucket there; it is not moved a second time, so
   * stores that send clients around end in their last answer.
   *
   * @param sentTo region of the target that the request was sent to; null if it was not sent
   */
  boolean follow(String bucket, @Nullable String sentTo, RequestFailure failure) {
    StoreAnswer refusal = failure.refusal();
    String region = refusal == null ? null : refusal.region();
    if (!settings.followRegion() || region == null || region.equals(sentTo)) {
      return false;
    }
    try {
      Target now = targets.compute(bucket, (name, known) -> moved(name, known, region));
      return now.region().equals(region);
    } catch (RuntimeException e) {
      LOG.debug("Bucket {} is not followed into region {}", bucket, region, e);
      return false;
    }
  }

  private Target moved(String bucket, @Nullable Target known, String region) {
    if (known != null && !known.region().equals(settings.region())) {
      return known;
    }
    Target target = resolve(bucket, region);
    String detour =
        "Bucket {} is in region {} and not in {}: it is read there from now on. Setting the region"
            + " saves the detour";
    Background.logApart(() -> LOG.info(detour, bucket, region, settings.region()));
    return target;
  }

  /** A HEAD, complete but for endpoint and signature. */
  S3MetaRequestOptions head(Target target, HeadRequest request) {
    return new S3MetaRequestOptions()
        .withMetaRequestType(MetaRequestType.DEFAULT)
        .withOperationName("HeadObject")
        .withHttpRequest(
            message("HEAD", target, request.object(), request.versionId(), request.headers()));
  }

  /** A ranged GET, complete but for endpoint and signature. */
  S3MetaRequestOptions get(Target target, GetRequest request) {
    HttpRequest message =
        message("GET", target, request.object(), request.versionId(), request.headers());
    message.addHeader("Range", request.range().httpHeader());
    if (request.etag() != null) {
      message.addHeader("If-Match", request.etag());
    }
    return new S3MetaRequestOptions()
        .withMetaRequestType(MetaRequestType.GET_OBJECT)
        .withHttpRequest(message);
  }

  private HttpRequest message(
      String method,
      Target target,
      ObjectRef object,
      @Nullable String versionId,
      Map<String, String> headers) {
    HttpRequest message = new HttpRequest(method, path(target, object, versionId));
    message.addHeader("Host", target.host());
    message.addHeader("User-Agent", settings.userAgent());
    settings.headers().forEach(message::addHeader);
    headers.forEach(message::addHeader);
    return message;
  }

  /** Path and query of a request for the object. */
  static String path(Target target, ObjectRef object, @Nullable String versionId) {
    String path = target.pathPrefix() + '/' + Endpoints.encoded(object.key()).replace("%2F", "/");
    return versionId == null ? path : path + "?versionId=" + Endpoints.encoded(versionId);
  }

  private Target resolve(String bucket, String region) {
    URI url = Endpoints.of(settings, bucket, region);
    String authority = url.getRawAuthority();
    URI endpoint = URI.create(url.getScheme() + "://" + authority);
    // As the SDK sends and signs it: stores compute the signature without the scheme's own port.
    String usual = "https".equalsIgnoreCase(url.getScheme()) ? ":443" : ":80";
    int end = authority.length() - (authority.endsWith(usual) ? usual.length() : 0);
    String host = authority.substring(0, end);
    return new Target(endpoint, host, url.getRawPath(), region, ObjectRef.isDirectory(bucket));
  }
}
