// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import io.s3e.client.CredentialsSource;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a client over the CRT reaches the store: as {@code io.s3e.client.aws.AwsClientSettings} says,
 * which users fill in, and which checks it.
 *
 * @param endpoint scheme, host and port of an S3-compatible store; null for AWS's own endpoint of
 *     the region, by https
 * @param credentials sign the requests; null sends unsigned ones. Not closed by the client
 * @param targetGbps throughput in Gbit/s for which the CRT opens connections: about one for each
 *     0.4 Gbit/s, at least 10
 * @param maxConnections upper limit of connections, 1 or more, for each of the client's two
 *     connection pools
 * @param stallTimeout how long a connection may deliver less than 1 KiB/s before it is given up;
 *     rounded up to whole seconds
 * @param authorities one PEM block for each certificate authority to trust. The CRT knows nothing
 *     of Java's trust store and is never left to the system's certificates. Empty without TLS
 * @param lends whether bodies come in buffers of direct memory, where there is enough of it, which
 *     the client may lend; through byte arrays if not
 */
public record CrtSettings(
    @Nullable URI endpoint,
    String region,
    boolean pathStyle,
    boolean dualStack,
    boolean followRegion,
    @Nullable CredentialsSource credentials,
    double targetGbps,
    int maxConnections,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration stallTimeout,
    List<String> authorities,
    String userAgent,
    Map<String, String> headers,
    boolean lends) {
  public CrtSettings {
    authorities = List.copyOf(authorities);
    headers = Map.copyOf(headers);
  }

  public boolean isTls() {
    return isTls(endpoint);
  }

  public static boolean isTls(@Nullable URI endpoint) {
    return endpoint == null || "https".equalsIgnoreCase(endpoint.getScheme());
  }
}
