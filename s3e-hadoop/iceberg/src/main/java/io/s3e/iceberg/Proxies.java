// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proxy that Iceberg's client takes, through which S3E's own does not go: the catalog's, the
 * JVM's or the environment's, unless the store's host is excepted.
 */
final class Proxies {
  private static final String ENDPOINT = "http-client.proxy-endpoint";
  private static final String BY_PROPERTIES = "http-client.proxy-use-system-property-values";
  private static final String BY_ENVIRONMENT = "http-client.proxy-use-environment-variable-values";
  private static final List<String> PROPERTIES =
      List.of("http.proxyHost", "https.proxyHost", "socksProxyHost");
  private static final List<String> VARIABLES =
      List.of("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy");

  private Proxies() {}

  /** The proxy before a store, in words for a log line; null if there is none. */
  static @Nullable String between(URI store, Map<String, String> properties) {
    return between(store, properties, System::getProperty, System::getenv);
  }

  static @Nullable String between(
      URI store,
      Map<String, String> properties,
      Function<String, @Nullable String> systemProperty,
      Function<String, @Nullable String> variable) {
    String endpoint = properties.get(ENDPOINT);
    if (endpoint != null) {
      // Without who logs in there.
      return ENDPOINT + " is \"" + endpoint.replaceFirst("//[^/]*@", "//") + "\"";
    }
    String host = String.valueOf(store.getHost()).toLowerCase(Locale.ROOT);
    String found = null;
    if (isOn(properties, BY_PROPERTIES)) {
      found =
          set(
              PROPERTIES,
              systemProperty,
              excepted(systemProperty.apply("http.nonProxyHosts"), "\\|"),
              host);
    }
    if (found == null && isOn(properties, BY_ENVIRONMENT)) {
      String exceptions = first(variable.apply("NO_PROXY"), variable.apply("no_proxy"));
      found = set(VARIABLES, variable, excepted(exceptions, ","), host);
    }
    return found;
  }

  private static boolean isOn(Map<String, String> properties, String key) {
    return !"false".equalsIgnoreCase(properties.get(key));
  }

  private static @Nullable String first(@Nullable String one, @Nullable String other) {
    return one == null ? other : one;
  }

  private static @Nullable String set(
      List<String> names,
      Function<String, @Nullable String> values,
      Stream<Pattern> exceptions,
      String host) {
    if (exceptions.anyMatch(exception -> exception.matcher(host).matches())) {
      return null;
    }
    for (String name : names) {
      String value = values.apply(name);
      if (value != null && !value.isBlank()) {
        // Without the value, which may hold a password.
        return name + " is set";
      }
    }
    return null;
  }

  /** Hosts with wildcards; a domain of the environment, {@code .example.com}, means its hosts. */
  private static Stream<Pattern> excepted(@Nullable String hosts, String separator) {
    return hosts == null
        ? Stream.empty()
        : Arrays.stream(hosts.split(separator, -1))
            .map(each -> each.trim().toLowerCase(Locale.ROOT))
            .filter(each -> !each.isEmpty())
            .map(each -> each.startsWith(".") ? "*" + each : each)
            .map(each -> Pattern.compile(Pattern.quote(each).replace("*", "\\E.*\\Q")));
  }
}
