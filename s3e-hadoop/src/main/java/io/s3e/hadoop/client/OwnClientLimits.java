package io.s3e.hadoop.client;

import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.S3EKeys;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.DefaultS3ClientFactory;
import org.apache.hadoop.fs.s3a.S3ClientFactory;
import org.apache.hadoop.fs.s3a.audit.S3AAuditConstants;
import org.apache.hadoop.fs.s3a.impl.InternalConstants;
import org.jspecify.annotations.Nullable;

/** What of S3A's configuration only S3A's own client, or only its own stream, can carry. */
public final class OwnClientLimits {
  private static final String S3_EXPRESS_SUFFIX = "--x-s3";
  private static final String CUSTOM_HEADERS = "fs.s3a.client.s3.custom.headers";
  private static final String CUSTOMER_KEY_HEADERS = "server-side-encryption-customer-";
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";

  private OwnClientLimits() {}

  /** Whether objects are decrypted in the client: offsets and lengths are then not the store's. */
  public static boolean encryptsInClient(Configuration conf) {
    return encryption(conf).startsWith("CSE");
  }

  /**
   * Why objects must not be written to local disk: whoever encrypts them with a key of their own
   * trusts no disk with them. In words that end a sentence; null if there is no reason.
   */
  public static @Nullable String notForDisk(Configuration conf) {
    String algorithm = encryption(conf);
    if (algorithm.startsWith("CSE") || algorithm.startsWith("SSE-C")) {
      return "objects are encrypted by " + algorithm;
    }
    return conf.get(CUSTOM_HEADERS, "").toLowerCase(Locale.ROOT).contains(CUSTOMER_KEY_HEADERS)
        ? CUSTOM_HEADERS + " has keys of SSE-C"
        : null;
  }

  private static String encryption(Configuration conf) {
    return conf.getTrimmed(
            Constants.S3_ENCRYPTION_ALGORITHM,
            conf.getTrimmed("fs.s3a.server-side-encryption-algorithm", ""))
        .toUpperCase(Locale.ROOT);
  }

  /**
   * Why the bucket has to be read by S3A's client whatever client of S3E's is wanted, in words for
   * a log line; null if there is no reason.
   *
   * @param conf with per-bucket overrides applied
   */
  static @Nullable String reason(Configuration conf, String bucket) {
    if (bucket.endsWith(S3_EXPRESS_SUFFIX)) {
      return "it is an S3 Express bucket";
    }
    if (bucket.startsWith("arn:")
        || isSet(conf, String.format(Locale.ROOT, InternalConstants.ARN_BUCKET_OPTION, bucket))) {
      return "it is read through an access point";
    }
    if (conf.getBoolean(Constants.FIPS_ENDPOINT, false)) {
      return Constants.FIPS_ENDPOINT + " is true";
    }
    if (conf.getBoolean(Constants.AWS_S3_ACCESS_GRANTS_ENABLED, false)) {
      return Constants.AWS_S3_ACCESS_GRANTS_ENABLED + " is true";
    }
    if (conf.getBoolean(Constants.HTTP_SIGNER_ENABLED, false)) {
      return Constants.HTTP_SIGNER_ENABLED + " is true";
    }
    for (String key :
        new String[] {
          Constants.CUSTOM_SIGNERS,
          Constants.SIGNING_ALGORITHM,
          "fs.s3a.s3.signing-algorithm",
          Constants.PROXY_HOST,
          S3AAuditConstants.AUDIT_EXECUTION_INTERCEPTORS,
          S3AAuditConstants.AUDIT_REQUEST_HANDLERS
        }) {
      if (isSet(conf, key)) {
        return key + " is set";
      }
    }
    Class<? extends S3ClientFactory> factory =
        conf.getClass(
            Constants.S3_CLIENT_FACTORY_IMPL, DefaultS3ClientFactory.class, S3ClientFactory.class);
    if (factory != DefaultS3ClientFactory.class) {
      return Constants.S3_CLIENT_FACTORY_IMPL + " is " + factory.getName();
    }
    return null;
  }

  /** Why the CRT cannot check the store's certificate as it should; null if it can. */
  static @Nullable String crtTrust(AdapterConfig config) {
    return System.getProperty(TRUST_STORE) != null && config.tlsCaFile().isEmpty()
        ? TRUST_STORE
            + " is set, which the AWS CRT does not read, and "
            + S3EKeys.TLS_CA_FILE.name()
            + " is not"
        : null;
  }

  /** As {@link #crtTrust}, of the SDK's client over the CRT: it trusts the system only. */
  static @Nullable String sdkAsyncTrust(AdapterConfig config) {
    if (!config.tlsCaFile().isEmpty()) {
      return S3EKeys.TLS_CA_FILE.name() + " is set, which this client does not read";
    }
    return System.getProperty(TRUST_STORE) != null
        ? TRUST_STORE + " is set, which this client does not read"
        : null;
  }

  private static boolean isSet(Configuration conf, String key) {
    return !conf.getTrimmed(key, "").isEmpty();
  }
}
