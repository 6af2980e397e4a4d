// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.aws.JvmTrust;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.DefaultS3ClientFactory;
import org.apache.hadoop.fs.s3a.S3ClientFactory;
import org.apache.hadoop.fs.s3a.audit.S3AAuditConstants;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;

/**
 * What S3A's client may be made to do and S3E's own client does not. All else is carried over by
 * {@link S3AClientView#settings}, or has no bearing on the bytes that are read; a test holds the
 * SDK's own list of a client's settings against the two.
 */
final class S3ATraits {
  /** Auditors that do nothing but give a request its {@code Referer} header, or not even that. */
  private static final Set<String> OF_HADOOP =
      Set.of(S3AAuditConstants.LOGGING_AUDIT_SERVICE, S3AAuditConstants.NOOP_AUDIT_SERVICE);

  private S3ATraits() {}

  /** The first that holds, as key or property and value, in words that end a sentence; or null. */
  static @Nullable String first(S3AFacts facts) {
    String first = ofSettings(facts).filter(Objects::nonNull).findFirst().orElse(null);
    return first == null ? ofWay(facts) : first;
  }

  /** No functions, which would be linked one by one on the way of a JVM's first read. */
  private static Stream<@Nullable String> ofSettings(S3AFacts facts) {
    return Stream.of(
        sessions(facts),
        facts.isOtherPoint() ? "its access point is not S3's of one region" : null,
        facts.isTrue(Constants.FIPS_ENDPOINT),
        facts.isTrue(Constants.AWS_S3_ACCESS_GRANTS_ENABLED),
        factory(facts),
        facts.isTrue(Constants.HTTP_SIGNER_ENABLED),
        facts.isSetTo(Constants.CUSTOM_SIGNERS),
        facts.isSetTo(Constants.SIGNING_ALGORITHM),
        facts.isSetTo("fs.s3a.s3.signing-algorithm"),
        signer(facts),
        auditor(facts),
        facts.isSetTo(S3AAuditConstants.AUDIT_EXECUTION_INTERCEPTORS),
        facts.isSetTo(S3AAuditConstants.AUDIT_REQUEST_HANDLERS),
        S3AFacts.foreign(
            "it has the interceptor ",
            facts.built().overrideConfiguration().executionInterceptors()),
        S3AFacts.foreign(
            "its endpoints come from ", facts.built().endpointProvider().stream().toList()),
        S3AFacts.foreign("it signs by ", facts.built().authSchemes().values()));
  }

  /** What takes time to find out, or asks code that is not S3A's. */
  private static @Nullable String ofWay(S3AFacts facts) {
    String proxy = facts.httpProxy();
    proxy = proxy == null ? facts.socksProxy() : proxy;
    if (proxy != null || !facts.isTls()) {
      return proxy;
    }
    String keyStore = S3AFacts.property("javax.net.ssl.keyStore");
    boolean trustsNobody =
        keyStore == null
            && facts.config().tlsCaFile().isEmpty()
            && JvmTrust.authorities().isEmpty();
    return trustsNobody ? "the JVM's trust managers name no certificate authority" : keyStore;
  }

  private static @Nullable String sessions(S3AFacts facts) {
    boolean makesSessions =
        facts
            .conf()
            .getBoolean(
                Constants.S3EXPRESS_CREATE_SESSION, Constants.S3EXPRESS_CREATE_SESSION_DEFAULT);
    return facts.isDirectoryBucket() && !makesSessions
        ? Constants.S3EXPRESS_CREATE_SESSION + " is false"
        : null;
  }

  private static @Nullable String factory(S3AFacts facts) {
    Class<?> factory =
        facts
            .conf()
            .getClass(
                Constants.S3_CLIENT_FACTORY_IMPL,
                DefaultS3ClientFactory.class,
                S3ClientFactory.class);
    return factory == DefaultS3ClientFactory.class
        ? null
        : Constants.S3_CLIENT_FACTORY_IMPL + " is " + factory.getName();
  }

  /** One of the user's own may refuse requests, or record their ends: S3A's client asks it to. */
  private static @Nullable String auditor(S3AFacts facts) {
    String key = S3AAuditConstants.AUDIT_SERVICE_CLASSNAME;
    String name = facts.conf().getTrimmed(key, "");
    return !isAudited(facts.conf()) || name.isEmpty() || OF_HADOOP.contains(name)
        ? null
        : key + " is " + name;
  }

  /** Whether S3A asks an auditor at all. */
  static boolean isAudited(Configuration conf) {
    return conf.getBoolean(
        S3AAuditConstants.AUDIT_ENABLED, S3AAuditConstants.AUDIT_ENABLED_DEFAULT);
  }

  private static @Nullable String signer(S3AFacts facts) {
    Object signer =
        facts
            .built()
            .overrideConfiguration()
            .advancedOption(SdkAdvancedClientOption.SIGNER)
            .orElse(null);
    return signer == null ? null : "its signer is " + signer.getClass().getName();
  }
}
