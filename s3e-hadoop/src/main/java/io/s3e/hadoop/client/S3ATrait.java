package io.s3e.hadoop.client;

import io.s3e.client.aws.ClientKind;
import io.s3e.client.aws.JvmTrust;
import io.s3e.hadoop.conf.S3EKeys;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.DefaultS3ClientFactory;
import org.apache.hadoop.fs.s3a.S3ClientFactory;
import org.apache.hadoop.fs.s3a.audit.S3AAuditConstants;
import org.apache.hadoop.fs.s3a.impl.InternalConstants;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;

/**
 * Something that S3A's client may be made to do and that not every client of S3E's does. All else
 * is carried over by {@link S3AClientView#settings}, or has no bearing on the bytes that are read;
 * a test holds the SDK's own list of a client's settings against the two.
 *
 * @param unsupportedBy the clients that do not do it
 * @param words see {@link #in}
 */
record S3ATrait(By unsupportedBy, Function<S3AFacts, @Nullable String> words) {
  /** Clients of S3E's. */
  enum By {
    ALL,
    /** Clients over the CRT, which does its own networking and TLS. */
    OVER_CRT,
    SDK_ASYNC;

    boolean includes(ClientKind kind) {
      return switch (this) {
        case ALL -> true;
        case OVER_CRT -> kind != ClientKind.SDK_SYNC;
        case SDK_ASYNC -> kind == ClientKind.SDK_ASYNC;
      };
    }
  }

  /** The order matters to a reader of logs only: the first trait that holds is the reason given. */
  static final List<S3ATrait> ALL =
      List.of(
          new S3ATrait(
              By.ALL,
              facts ->
                  ObjectEncryption.isInClient(facts.conf()) ? "objects are encrypted there" : null),
          new S3ATrait(
              By.ALL,
              facts -> facts.bucket().endsWith("--x-s3") ? "it is an S3 Express bucket" : null),
          new S3ATrait(
              By.ALL,
              facts -> {
                String key =
                    String.format(Locale.ROOT, InternalConstants.ARN_BUCKET_OPTION, facts.bucket());
                return facts.bucket().startsWith("arn:") || facts.isSet(key)
                    ? "it is read through an access point"
                    : null;
              }),
          new S3ATrait(By.ALL, facts -> facts.isTrue(Constants.FIPS_ENDPOINT)),
          new S3ATrait(By.ALL, facts -> facts.isTrue(Constants.AWS_S3_ACCESS_GRANTS_ENABLED)),
          new S3ATrait(
              By.ALL,
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
              }),
          new S3ATrait(By.ALL, facts -> facts.isTrue(Constants.HTTP_SIGNER_ENABLED)),
          new S3ATrait(By.ALL, facts -> facts.isSetTo(Constants.CUSTOM_SIGNERS)),
          new S3ATrait(By.ALL, facts -> facts.isSetTo(Constants.SIGNING_ALGORITHM)),
          new S3ATrait(By.ALL, facts -> facts.isSetTo("fs.s3a.s3.signing-algorithm")),
          new S3ATrait(
              By.ALL,
              facts ->
                  facts
                      .built()
                      .overrideConfiguration()
                      .advancedOption(SdkAdvancedClientOption.SIGNER)
                      .map(signer -> "its signer is " + signer.getClass().getName())
                      .orElse(null)),
          new S3ATrait(
              By.ALL, facts -> facts.isSetTo(S3AAuditConstants.AUDIT_EXECUTION_INTERCEPTORS)),
          new S3ATrait(By.ALL, facts -> facts.isSetTo(S3AAuditConstants.AUDIT_REQUEST_HANDLERS)),
          new S3ATrait(
              By.ALL,
              facts -> {
                String foreign =
                    S3AFacts.foreign(facts.built().overrideConfiguration().executionInterceptors());
                return foreign == null ? null : "it has the interceptor " + foreign;
              }),
          new S3ATrait(
              By.ALL,
              facts -> {
                String foreign =
                    S3AFacts.foreign(facts.built().endpointProvider().stream().toList());
                return foreign == null ? null : "its endpoints come from " + foreign;
              }),
          new S3ATrait(
              By.ALL,
              facts -> {
                String foreign = S3AFacts.foreign(facts.built().authSchemes().values());
                return foreign == null ? null : "it signs by " + foreign;
              }),
          new S3ATrait(By.ALL, S3AFacts::httpProxy),
          new S3ATrait(By.OVER_CRT, S3AFacts::socksProxy),
          new S3ATrait(
              By.OVER_CRT,
              facts -> facts.isTls() ? S3AFacts.property("javax.net.ssl.keyStore") : null),
          new S3ATrait(
              By.SDK_ASYNC,
              facts ->
                  facts.isTls() && !facts.config().tlsCaFile().isEmpty()
                      ? S3EKeys.TLS_CA_FILE.name() + " is " + facts.config().tlsCaFile()
                      : null),
          new S3ATrait(
              By.SDK_ASYNC,
              facts -> facts.isTls() ? S3AFacts.property("javax.net.ssl.trustStore") : null),
          new S3ATrait(
              By.OVER_CRT,
              facts ->
                  facts.isTls()
                          && facts.config().tlsCaFile().isEmpty()
                          && JvmTrust.authorities().isEmpty()
                      ? "the JVM's trust managers name no certificate authority"
                      : null),
          new S3ATrait(
              By.SDK_ASYNC,
              facts ->
                  facts.isDualStack() ? "it uses the dual-stack endpoint " + facts.store() : null));

  /** Key or property and value, in words that end a sentence; null if the trait does not hold. */
  @Nullable String in(S3AFacts facts) {
    return words.apply(facts);
  }
}
