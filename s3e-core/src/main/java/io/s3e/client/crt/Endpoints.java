// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.block.ObjectRef;
import io.s3e.client.CredentialsSource;
import io.s3e.client.library.CrtSettings;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where buckets and access points answer: S3's rules as the SDK has them. Pure. */
final class Endpoints {
  /** By the start of a region's name. Those of the partition "aws" need no row. */
  private static final Map<String, String> DOMAINS =
      Map.of(
          "cn-", "amazonaws.com.cn",
          "us-iso-", "c2s.ic.gov",
          "us-isob-", "sc2s.sgov.gov",
          "eu-isoe-", "cloud.adc-e.uk",
          "us-isof-", "csp.hci.ic.gov",
          "eusc-", "amazonaws.eu");

  private static final Pattern HOST_LABEL = Pattern.compile("[a-zA-Z\\d][a-zA-Z\\d-]{0,62}");
  private static final Pattern BUCKET_LABEL = Pattern.compile("[a-z\\d][a-z\\d-]{1,61}[a-z\\d]");
  private static final Pattern BUCKET_LABELS =
      Pattern.compile(
          "(?=.{3,63}$)[a-z\\d]([a-z\\d-]*[a-z\\d])?(\\.[a-z\\d]([a-z\\d-]*[a-z\\d])?)*");
  private static final Pattern IP_ADDRESS = Pattern.compile("(\\d+\\.){3}\\d+|\\[.*]");

  /** The name of a bucket of S3 Express One Zone says in which zone it is. */
  private static final Pattern DIRECTORY = Pattern.compile(".+--([a-z\\d-]+)--x-s3");

  /** An access point of one region. Those of Outposts and of all regions are signed otherwise. */
  private static final Pattern POINT =
      Pattern.compile("arn:[a-z-]+:s3:([a-z\\d-]+):(\\d{12}):accesspoint[:/]([a-z\\d-]{3,50})");

  private Endpoints() {}

  /**
   * The URL of the bucket, with a path that ends with its name where that is no part of the host.
   *
   * @param region in which the bucket is
   * @throws IllegalArgumentException if the region is no name of one, the bucket is none that these
   *     rules know or a point of another region, or dual stack is asked of another store than AWS
   */
  static URI of(CrtSettings settings, String bucket, String region) {
    require(HOST_LABEL.matcher(region).matches(), "region", region, "a region's name");
    CredentialsSource source = settings.credentials();
    boolean hasSessions = source != null && source.sessionsOf() != null;
    Matcher point = POINT.matcher(bucket);
    boolean isPoint = point.matches();
    boolean isName = !bucket.startsWith("arn:") && !ObjectRef.isOtherPoint(bucket);
    boolean isDirectory = ObjectRef.isDirectory(bucket);
    String accepted =
        "a bucket's name, of S3 Express by a source of sessions, or the ARN of an access point in "
            + region;
    boolean isKnown =
        isPoint
            ? point.group(1).equals(region) && !settings.pathStyle()
            : isName && (hasSessions || !isDirectory);
    require(isKnown, "bucket", bucket, accepted);
    String name = isPoint ? point.group(3) + '-' + point.group(2) : bucket;
    URI given = settings.endpoint();
    Matcher zone = DIRECTORY.matcher(bucket);
    if (given == null) {
      require(zone.matches() || !isDirectory, "bucket", bucket, "a name with a zone");
      String service =
          isPoint ? "s3-accesspoint" : isDirectory ? "s3express-" + zone.group(1) : "s3";
      String stack = settings.dualStack() ? ".dualstack." : ".";
      String host = service + stack + region + '.' + domain(region);
      boolean inHost = isPoint || isDirectory || (!settings.pathStyle() && isLabel(bucket));
      return place("https", host, "", name, inHost);
    }
    require(!settings.dualStack(), "dualStack", true, "false where there is an endpoint");
    boolean inHost =
        isPoint
            || ((!settings.pathStyle() || isDirectory)
                && !IP_ADDRESS.matcher(given.getHost()).matches()
                && (isLabel(bucket)
                    || ("http".equalsIgnoreCase(given.getScheme()) && areLabels(bucket))));
    return place(given.getScheme(), given.getRawAuthority(), path(given), name, inHost);
  }

  private static URI place(
      String scheme, String authority, String path, String bucket, boolean inHost) {
    return URI.create(
        inHost
            ? scheme + "://" + bucket + '.' + authority + path
            : scheme + "://" + authority + path + '/' + encoded(bucket));
  }

  /** Without a slash at its end. */
  private static String path(URI endpoint) {
    String path = endpoint.getRawPath();
    return path == null ? "" : path.replaceFirst("/+$", "");
  }

  private static String domain(String region) {
    return DOMAINS.entrySet().stream()
        .filter(row -> region.startsWith(row.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("amazonaws.com");
  }

  private static boolean isLabel(String bucket) {
    return BUCKET_LABEL.matcher(bucket).matches();
  }

  private static boolean areLabels(String bucket) {
    return BUCKET_LABELS.matcher(bucket).matches() && !IP_ADDRESS.matcher(bucket).matches();
  }

  /** As S3's canonical URI wants a part of a path or of a query: all but the unreserved. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }

  private static void require(boolean holds, String key, Object value, String accepted) {
    if (!holds) {
      throw new IllegalArgumentException(key + " is '" + value + "'; accepted is " + accepted);
    }
  }
}
