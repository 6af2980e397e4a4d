// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.aws.JvmTrust;
import java.util.stream.Stream;
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
  private S3ATraits() {}

  /**
   * Each as key or property and value, in words that end a sentence; null where it does not hold.
   * The order matters to a reader of logs only: the first that holds is the reason given.
   */
  static Stream<@Nullable String> of(S3AFacts facts) {
    // No functions, which would be linked one by one: this is on the way of a JVM's first read.
    return Stream.of(
        ObjectEncryption.isInClient(facts.conf()) ? "objects are encrypted there" : null,
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
        facts.isSetTo(S3AAuditConstants.AUDIT_EXECUTION_INTERCEPTORS),
        facts.isSetTo(S3AAuditConstants.AUDIT_REQUEST_HANDLERS),
        S3AFacts.foreign(
            "it has the interceptor ",
            facts.built().overrideConfiguration().executionInterceptors()),
        S3AFacts.foreign(
            "its endpoints come from ", facts.built().endpointProvider().stream().toList()),
        S3AFacts.foreign("it signs by ", facts.built().authSchemes().values()),
        facts.httpProxy(),
        facts.socksProxy(),
        facts.isTls() ? S3AFacts.property("javax.net.ssl.keyStore") : null,
        facts.isTls() && facts.config().tlsCaFile().isEmpty() && JvmTrust.authorities().isEmpty()
            ? "the JVM's trust managers name no certificate authority"
            : null);
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
