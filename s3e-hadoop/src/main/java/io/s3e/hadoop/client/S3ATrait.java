// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.aws.JvmTrust;
import java.util.List;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.DefaultS3ClientFactory;
import org.apache.hadoop.fs.s3a.S3ClientFactory;
import org.apache.hadoop.fs.s3a.audit.S3AAuditConstants;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;

/**
 * Something that S3A's client may be made to do and that S3E's own client does not. All else is
 * carried over by {@link S3AClientView#settings}, or has no bearing on the bytes that are read; a
 * test holds the SDK's own list of a client's settings against the two.
 */
@FunctionalInterface
interface S3ATrait {
  /** The order matters to a reader of logs only: the first trait that holds is the reason given. */
  List<S3ATrait> ALL =
      List.of(
          facts -> ObjectEncryption.isInClient(facts.conf()) ? "objects are encrypted there" : null,
          facts ->
              facts.isDirectoryBucket()
                      && !facts
                          .conf()
                          .getBoolean(
                              Constants.S3EXPRESS_CREATE_SESSION,
                              Constants.S3EXPRESS_CREATE_SESSION_DEFAULT)
                  ? Constants.S3EXPRESS_CREATE_SESSION + " is false"
                  : null,
          facts -> facts.isOtherPoint() ? "its access point is not S3's of one region" : null,
          facts -> facts.isTrue(Constants.FIPS_ENDPOINT),
          facts -> facts.isTrue(Constants.AWS_S3_ACCESS_GRANTS_ENABLED),
          facts -> {
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
          },
          facts -> facts.isTrue(Constants.HTTP_SIGNER_ENABLED),
          facts -> facts.isSetTo(Constants.CUSTOM_SIGNERS),
          facts -> facts.isSetTo(Constants.SIGNING_ALGORITHM),
          facts -> facts.isSetTo("fs.s3a.s3.signing-algorithm"),
          facts ->
              facts
                  .built()
                  .overrideConfiguration()
                  .advancedOption(SdkAdvancedClientOption.SIGNER)
                  .map(signer -> "its signer is " + signer.getClass().getName())
                  .orElse(null),
          facts -> facts.isSetTo(S3AAuditConstants.AUDIT_EXECUTION_INTERCEPTORS),
          facts -> facts.isSetTo(S3AAuditConstants.AUDIT_REQUEST_HANDLERS),
          facts -> {
            String foreign =
                S3AFacts.foreign(facts.built().overrideConfiguration().executionInterceptors());
            return foreign == null ? null : "it has the interceptor " + foreign;
          },
          facts -> {
            String foreign = S3AFacts.foreign(facts.built().endpointProvider().stream().toList());
            return foreign == null ? null : "its endpoints come from " + foreign;
          },
          facts -> {
            String foreign = S3AFacts.foreign(facts.built().authSchemes().values());
            return foreign == null ? null : "it signs by " + foreign;
          },
          S3AFacts::httpProxy,
          S3AFacts::socksProxy,
          facts -> facts.isTls() ? S3AFacts.property("javax.net.ssl.keyStore") : null,
          facts ->
              facts.isTls()
                      && facts.config().tlsCaFile().isEmpty()
                      && JvmTrust.authorities().isEmpty()
                  ? "the JVM's trust managers name no certificate authority"
                  : null);

  /** Key or property and value, in words that end a sentence; null if the trait does not hold. */
  @Nullable String in(S3AFacts facts);
}
