// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import com.amazonaws.SdkClientException;
import com.amazonaws.auth.AWSCredentials;
import com.amazonaws.auth.AWSSessionCredentials;
import com.amazonaws.regions.DefaultAwsRegionProviderChain;
import com.amazonaws.util.AwsHostNameUtils;
import io.s3e.block.ObjectRef;
import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivilegedAction;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.AWSCredentialProviderList;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AEncryptionMethods;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.auth.delegation.EncryptionSecrets;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.VersionInfo;
import org.jspecify.annotations.Nullable;

/**
 * How S3A 3.3 reaches the store, by the settings that it has built its client from: what S3E's own
 * client takes over, and what only S3A's can do. Version 1 of the SDK shows little of a client that
 * was built, so these are S3A's rules read from its {@code DefaultS3ClientFactory}. Immutable.
 */
final class S3aClient {
  private static final String REQUESTER_PAYS = "fs.s3a.requester.pays.enabled";

  /** Keys that S3A's client alone honours, where they are set. */
  private static final List<String> FOR_S3A =
      List.of(
          Constants.PROXY_HOST,
          Constants.SIGNING_ALGORITHM,
          "fs.s3a.s3.signing-algorithm",
          Constants.CUSTOM_SIGNERS,
          "fs.s3a.accesspoint.arn",
          "fs.s3a.accesspoint.required",
          "fs.s3a.audit.request.handlers");

  private static final String AUDITOR = "fs.s3a.audit.service.classname";

  private static final List<String> PROXY_PROPERTIES =
      List.of("http.proxyHost", "https.proxyHost", "socksProxyHost");
  private static final List<String> PROXY_ENVIRONMENT =
      List.of("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy");

  /** Of certificates for the store, which S3E's client presents to none. */
  private static final String KEY_STORE = "javax.net.ssl.keyStore";

  private final S3AFileSystem fileSystem;
  private final Configuration conf;

  S3aClient(S3AFileSystem fileSystem) {
    this.fileSystem = fileSystem;
    this.conf = fileSystem.getConf();
  }

  /** Why S3A's stream has to read, in words for a log line; null if there is no reason. */
  @Nullable String reasonAgainstOwn() {
    for (String key : FOR_S3A) {
      String value = conf.getTrimmed(key, "");
      if (!value.isEmpty() && !value.equals("false")) {
        return key + " is " + value;
      }
    }
    if (ObjectRef.isOtherPoint(fileSystem.getBucket())) {
      return "its access point is not S3's of one region";
    }
    String auditor = conf.getTrimmed(AUDITOR, "");
    boolean isOwn = !auditor.isEmpty() && !auditor.startsWith("org.apache.hadoop.fs.s3a.audit.");
    if (isOwn && conf.getBoolean("fs.s3a.audit.enabled", true)) {
      return AUDITOR + " is " + auditor;
    }
    String factory = conf.getTrimmed(Constants.S3_CLIENT_FACTORY_IMPL, "");
    if (!factory.isEmpty() && !factory.equals("org.apache.hadoop.fs.s3a.DefaultS3ClientFactory")) {
      return Constants.S3_CLIENT_FACTORY_IMPL + " is " + factory;
    }
    if (fileSystem.isCSEEnabled()) {
      return "objects are encrypted in the client";
    }
    ChangeDetectionPolicy policy = fileSystem.getChangeDetectionPolicy();
    // S3E's GETs are conditional, and of S3A's modes one alone asks the store for such.
    if (policy.getSource() != ChangeDetectionPolicy.Source.ETag
        || policy.getMode() != ChangeDetectionPolicy.Mode.Server) {
      return "fs.s3a.change.detection is by " + policy;
    }
    if (!HeldVersion.isTold()) {
      return "this hadoop-aws does not tell which version it has opened";
    }
    String keyStore = System.getProperty(KEY_STORE);
    return keyStore != null && isTls() ? KEY_STORE + " is " + keyStore : proxy();
  }

  private static @Nullable String proxy() {
    Optional<String> property =
        PROXY_PROPERTIES.stream().filter(name -> System.getProperty(name) != null).findFirst();
    return property
        .or(() -> PROXY_ENVIRONMENT.stream().filter(n -> System.getenv(n) != null).findFirst())
        .map(name -> name + " names a proxy")
        .orElse(null);
  }

  /** Settings with which S3E's client does what S3A's does. */
  AwsClientSettings settings(AwsClientSettings.Builder reach, CredentialsSource credentials) {
    return reach
        .endpoint(endpoint())
        .region(region())
        .followRegion(true)
        .pathStyle(conf.getBoolean(Constants.PATH_STYLE_ACCESS, false))
        .credentials(credentials)
        .userAgentPrefix(userAgent())
        .build();
  }

  /** What S3A says before the SDK's own words. */
  private String userAgent() {
    String prefix = conf.getTrimmed(Constants.USER_AGENT_PREFIX, "");
    String hadoop = "Hadoop " + VersionInfo.getVersion();
    return prefix.isEmpty() ? hadoop : prefix + ", " + hadoop;
  }

  /** The name that blocks of the store are kept under. */
  String store() {
    return AwsClients.storeName(Optional.ofNullable(endpoint()), region());
  }

  /** Null for AWS's own. */
  private @Nullable URI endpoint() {
    String told = conf.getTrimmed(Constants.ENDPOINT, "");
    if (told.isEmpty() || told.equals(Constants.CENTRAL_ENDPOINT)) {
      return null;
    }
    boolean tls =
        conf.getBoolean(Constants.SECURE_CONNECTIONS, Constants.DEFAULT_SECURE_CONNECTIONS);
    return URI.create(told.contains("://") ? told : (tls ? "https://" : "http://") + told);
  }

  private boolean isTls() {
    URI endpoint = endpoint();
    return endpoint == null || "https".equalsIgnoreCase(endpoint.getScheme());
  }

  private String region() {
    String told = conf.getTrimmed(Constants.AWS_REGION);
    if (told != null && !told.isEmpty()) {
      return told;
    }
    URI endpoint = endpoint();
    String found = null;
    if (endpoint != null) {
      found = AwsHostNameUtils.parseRegion(endpoint.getHost(), "s3");
    } else if (told != null && conf.getTrimmed(Constants.ENDPOINT, "").isEmpty()) {
      found = regionOfSdk();
    }
    return found == null ? Constants.AWS_S3_CENTRAL_REGION : found;
  }

  /** That of S3A's client where the key is empty; it has come from there before, so it is near. */
  private static @Nullable String regionOfSdk() {
    try {
      return new DefaultAwsRegionProviderChain().getRegion();
    } catch (SdkClientException e) {
      return null;
    }
  }

  /** What each GET of an object says beside its range. */
  Map<String, String> headers() {
    boolean pays = conf.getBoolean(REQUESTER_PAYS, false);
    Map<String, String> payer = pays ? Map.of("x-amz-request-payer", "requester") : Map.of();
    EncryptionSecrets secrets = fileSystem.getEncryptionSecrets();
    if (secrets.getEncryptionMethod() != S3AEncryptionMethods.SSE_C) {
      return payer;
    }
    String name = "x-amz-server-side-encryption-customer-";
    Map<String, String> headers = new HashMap<>(payer);
    headers.put(name + "algorithm", "AES256");
    headers.put(name + "key", secrets.getEncryptionKey());
    headers.put(name + "key-MD5", md5(secrets.getEncryptionKey()));
    return headers;
  }

  /** Why objects must not be written to local disk; null if they may. */
  @Nullable String secret() {
    return fileSystem.getEncryptionSecrets().getEncryptionMethod() == S3AEncryptionMethods.SSE_C
        ? "objects are encrypted by SSE-C"
        : null;
  }

  private static String md5(String key) {
    try {
      byte[] digest = MessageDigest.getInstance("MD5").digest(Base64.getDecoder().decode(key));
      return Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The credentials of a list of S3A's, whose exceptions pass as they are, asked for as the user
   * whose file system it is: the client asks on threads of its own, which are nobody's.
   */
  static CredentialsSource of(AWSCredentialProviderList list, UserGroupInformation user) {
    PrivilegedAction<AWSCredentials> get = list::getCredentials;
    return () -> {
      AWSCredentials found = user.doAs(get);
      if (found.getAWSAccessKeyId() == null || found.getAWSSecretKey() == null) {
        return null;
      }
      String token =
          found instanceof AWSSessionCredentials session ? session.getSessionToken() : null;
      return new CredentialsSource.Credentials(
          found.getAWSAccessKeyId(), found.getAWSSecretKey(), token, null);
    };
  }
}
