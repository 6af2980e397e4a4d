// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.CredentialsSource;
import io.s3e.client.ObjectClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.given.SdkCredentials;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.library.CrtMemoryException;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.hadoop.conf.S3EKeys;
import java.io.Closeable;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.AWSCredentialProviderList;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

/**
 * Makes the engine of one file system: chooses the client, and gives S3E's own client the
 * credentials, region, endpoint, addressing, headers and user agent that S3A's client has. These
 * are asked of S3A's client itself, so that S3A alone decides what they are.
 */
public final class FileSystemClients implements ReadEngine.Maker {
  private static final Logger LOG = LoggerFactory.getLogger(FileSystemClients.class);
  private static final Closeable NOTHING = () -> {};

  private final S3AFileSystem fileSystem;
  private final AdapterConfig config;
  private final EngineFactory cache;
  private final Configuration conf;

  /** Whose file system it is. Clients have threads of their own, which are nobody's. */
  private final UserGroupInformation user;

  private final WayBack wayBack;

  /**
   * For the current user.
   *
   * @param onFallback called whenever reading goes over from S3E's own client to S3A's
   */
  public FileSystemClients(
      S3AFileSystem fileSystem, AdapterConfig config, EngineFactory cache, Runnable onFallback)
      throws IOException {
    this.fileSystem = fileSystem;
    this.config = config;
    this.cache = cache;
    conf = fileSystem.getConf();
    UserGroupInformation owner = UserGroupInformation.getCurrentUser();
    ChangeDetectionPolicy policy = fileSystem.getChangeDetectionPolicy();
    user = owner;
    wayBack =
        new WayBack(
            fileSystem.getUri().toString(),
            // Nothing that is made leads back to the file system, which may be forgotten.
            requests -> S3AStore.provider(owner, policy, requests),
            onFallback);
  }

  /**
   * The means that a file system will read by, as far as its settings tell.
   *
   * @param client the one that reads, unless it turns out not to reach the store
   * @param reason why that is not S3E's own, in words that end a sentence; null if it is
   * @param engine with the directories of the cache on disk
   */
  public record Outlook(ClientChoice client, @Nullable String reason, S3EConfig engine) {
    /**
     * Of what was asked for, and of what S3A's settings allow.
     *
     * @param reasonAgainstOwn asked only where the user leaves the choice to S3E; null answers
     *     speak for S3E's own client
     */
    public static Outlook of(
        AdapterConfig config, Supplier<@Nullable String> reasonAgainstOwn, S3EConfig engine) {
      String reason =
          config.client() == ClientChoice.S3A
              ? S3EKeys.CLIENT.name() + " is " + ClientChoice.S3A.text()
              : reasonAgainstOwn.get();
      if (reason == null) {
        reason = CrtLibrary.unusableBecause();
      }
      return new Outlook(reason == null ? ClientChoice.CRT : ClientChoice.S3A, reason, engine);
    }
  }

  /**
   * The choices that {@link #make()} makes, without credentials and without a request.
   *
   * @throws IOException if no directory can be used for the cache on disk that is asked for
   */
  public Outlook outlook() throws IOException {
    return Outlook.of(
        config,
        () -> S3AClientView.of(fileSystem, config).reasonAgainstOwn(),
        cache.engine(fileSystem.getUri().toString(), store(), secret()));
  }

  @Override
  public ReadEngine.Made make() throws IOException {
    return AsUser.call(user, this::made);
  }

  private ReadEngine.Made made() throws IOException {
    if (config.client() == ClientChoice.S3A) {
      return byS3A();
    }
    S3AClientView view;
    String reason;
    try {
      view = S3AClientView.of(fileSystem, config);
      reason = view.reasonAgainstOwn();
    } catch (RuntimeException | LinkageError e) {
      return instead(e);
    }
    if (reason != null) {
      sayChoice(reason);
      return byS3A();
    }
    String problem = CrtLibrary.unusableBecause();
    if (problem != null) {
      return instead(new CrtUnusableException(problem, null));
    }
    AWSCredentialProviderList credentials =
        fileSystem.getS3AInternals().shareCredentials("S3E client of " + fileSystem.getUri());
    boolean kept = false;
    try {
      // Outside of the way back: without credentials S3A's client reads nothing either.
      String key = credentials.resolveCredentials().accessKeyId();
      if (key == null && view.facts().isDirectoryBucket()) {
        sayChoice("there are no credentials to make a session of this directory bucket with");
        return byS3A();
      }
      ReadEngine.Made made = byOwn(view, credentials, key);
      kept = made.alsoClose() != NOTHING;
      return made;
    } finally {
      if (!kept) {
        credentials.close();
      }
    }
  }

  /** {@code key} is the access key's that requests are signed with; null if they are anonymous. */
  private ReadEngine.Made byOwn(
      S3AClientView view, AWSCredentialProviderList credentials, @Nullable String key)
      throws IOException {
    AwsClientSettings settings;
    try {
      // Not the list itself: an SDK client closes what it can, and this one is shared.
      CredentialsSource source =
          key != null && view.facts().isDirectoryBucket()
              ? new BucketSessions(
                  s3aClient(), credentials::resolveCredentials, fileSystem.getBucket(), key)
              : new SdkCredentials(credentials::resolveCredentials);
      settings = view.settings(new CredentialsOfUser(user, source), key == null);
    } catch (RuntimeException | LinkageError e) {
      return instead(e);
    }
    try {
      return new ReadEngine.Made(engine(memory -> own(settings, memory)), credentials::close);
    } catch (RuntimeException | LinkageError e) {
      throw new IOException("Cannot make S3E's client for " + fileSystem.getUri() + ": " + e, e);
    }
  }

  /** By S3A's client, since the own one cannot be made; the error if the own one was asked for. */
  private ReadEngine.Made instead(Throwable cause) throws IOException {
    if (config.client() == ClientChoice.AUTO) {
      wayBack.onUnmade(cause);
      return byS3A();
    }
    throw new IOException(
        "Cannot make S3E's client for " + fileSystem.getUri() + ": " + cause, cause);
  }

  private ReadEngine.Made byS3A() throws IOException {
    return new ReadEngine.Made(engine(s3a()), NOTHING);
  }

  private S3E engine(ClientProvider client) throws IOException {
    return cache.create(fileSystem.getUri().toString(), store(), secret(), client);
  }

  private @Nullable String store() {
    S3ServiceClientConfiguration built = s3aClient().serviceClientConfiguration();
    return ObjectLambda.store(
        fileSystem.getBucket(),
        AwsClients.storeName(
            built.endpointOverride(), built.region() == null ? null : built.region().id()));
  }

  /**
   * By S3A's word, which counts a delegation token's encryption too, and by the configuration's.
   */
  private @Nullable String secret() {
    String made = ObjectLambda.notForDisk(fileSystem.getBucket());
    return made == null
        ? ObjectEncryption.notForDisk(fileSystem.getS3EncryptionAlgorithm(), conf)
        : made;
  }

  private ClientProvider s3a() {
    return S3AStore.provider(user, fileSystem.getChangeDetectionPolicy());
  }

  private ObjectClient own(AwsClientSettings settings, ClientMemory memory) {
    if (config.client() == ClientChoice.AUTO) {
      return wayBack.open(some -> audited(settings, some), memory);
    }
    try {
      return audited(settings, memory);
    } catch (CrtUnusableException e) {
      if (!(e instanceof CrtMemoryException)) {
        throw e;
      }
      // Too small a budget: to read slower is better than not to read.
      wayBack.onUnmade(e);
      return s3a().create(memory);
    }
  }

  private ObjectClient audited(AwsClientSettings settings, ClientMemory memory) {
    ObjectClient client = AwsClients.crt(settings).create(memory);
    return RevisionCheckingClient.over(
        new AuditedClient(client, fileSystem.getInstrumentation(), S3ATraits.isAudited(conf)),
        fileSystem.getChangeDetectionPolicy());
  }

  /** No fault: S3A's client has been told to do what S3E's does not. */
  private void sayChoice(String reason) {
    LOG.info("Reading {} by S3A's client and not by the AWS CRT: {}", fileSystem.getUri(), reason);
  }

  private S3Client s3aClient() {
    return fileSystem.getS3AInternals().getAmazonS3Client("S3E client settings");
  }
}
