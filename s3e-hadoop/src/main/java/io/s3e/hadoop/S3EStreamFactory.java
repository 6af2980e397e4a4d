// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.S3E;
import io.s3e.client.ClientProvider;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.client.HadoopTables;
import io.s3e.hadoop.client.ObjectEncryption;
import io.s3e.hadoop.client.ObjectLambda;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.client.S3AStore;
import io.s3e.hadoop.client.StreamChoice;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.UnknownKeys;
import io.s3e.hadoop.setup.Requirements;
import io.s3e.hadoop.stream.S3EObjectInputStream;
import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AEncryptionMethods;
import org.apache.hadoop.fs.s3a.S3AInputStream;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.impl.streams.AbstractObjectInputStreamFactory;
import org.apache.hadoop.fs.s3a.impl.streams.InputStreamType;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectInputStream;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectReadParameters;
import org.apache.hadoop.fs.s3a.impl.streams.StreamFactoryRequirements;
import org.apache.hadoop.fs.s3a.impl.streams.StreamIntegration;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * S3E's streams by the stream SPI of Hadoop 3.4.2 and later. Inside {@link S3EFileSystem} the
 * streams get that file system's engine. In a plain S3AFileSystem ({@code
 * fs.s3a.input.stream.type=custom} and {@code fs.s3a.input.stream.custom.factory} this class) they
 * share one engine of the factory's, which reads by S3A's client, for the SPI shows nothing of
 * credentials or endpoint.
 *
 * <p>Where objects are encrypted in the client, S3A's classic stream is returned.
 */
public class S3EStreamFactory extends AbstractObjectInputStreamFactory {
  private static final Logger LOG = LoggerFactory.getLogger(S3EStreamFactory.class);

  private static final String OWNER = "a file system without S3EFileSystem";
  private static final String DELEGATION_TOKEN_BINDING = "fs.s3a.delegation.token.binding";

  private @Nullable ReadEngine engine;

  /** Null while S3E reads, as far as is known. */
  private volatile @Nullable StreamChoice instead;

  // Of the file system, as its latest stream has told; nothing else does.
  private volatile S3AEncryptionMethods encryption = S3AEncryptionMethods.NONE;
  private volatile String bucket = "";

  /** Called by S3A. */
  public S3EStreamFactory() {
    super("S3EStreamFactory");
  }

  /**
   * @throws IllegalArgumentException if a setting of S3E's is not accepted
   */
  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    Requirements unused = Requirements.check();
    HadoopTables.opened(this);
    super.serviceInit(conf);
    AdapterConfig config = AdapterConfig.read(conf, null);
    if (!config.enabled()) {
      readByClassicStream(StreamChoice.S3A_BY_SETTING);
      return;
    }
    ChangeDetectionPolicy policy = ChangeDetectionPolicy.getPolicy(conf);
    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    engine =
        new ReadEngine(
            OWNER,
            config.engine().readTimeout(),
            () ->
                new ReadEngine.Made(
                    engine(config, conf, S3AStore.provider(user, policy)), () -> {}));
  }

  private void readByClassicStream(StreamChoice choice) {
    if (instead != choice) {
      instead = choice;
      LOG.info("Reading by S3A's classic stream: {}", choice.reason());
    }
  }

  /** The endpoint as it is configured: the SPI does not show what S3A makes of it. */
  private S3E engine(AdapterConfig config, Configuration conf, ClientProvider client)
      throws IOException {
    UnknownKeys.tell(OWNER, conf, null);
    String store =
        conf.getTrimmed(Constants.ENDPOINT, "") + "/" + conf.getTrimmed(Constants.AWS_REGION, "");
    return new EngineFactory(config, conf, null)
        .create(OWNER, ObjectLambda.store(bucket, store), secret(conf), client);
  }

  private @Nullable String secret(Configuration conf) {
    String made = ObjectLambda.notForDisk(bucket);
    if (made != null) {
      return made;
    }
    return conf.getTrimmed(DELEGATION_TOKEN_BINDING, "").isEmpty()
        ? ObjectEncryption.notForDisk(encryption, conf)
        : DELEGATION_TOKEN_BINDING + " is set, and tokens may bring keys of SSE-C";
  }

  @Override
  protected void serviceStop() throws Exception {
    try {
      ReadEngine own = engine;
      if (own != null) {
        own.close();
      }
      super.serviceStop();
    } finally {
      HadoopTables.closed(this);
    }
  }

  @Override
  public ObjectInputStream readObject(ObjectReadParameters parameters) throws IOException {
    S3AEncryptionMethods told = parameters.getObjectAttributes().getServerSideEncryptionAlgorithm();
    encryption = told;
    bucket = parameters.getObjectAttributes().getBucket();
    if (StreamChoice.of(told) != StreamChoice.S3E) {
      readByClassicStream(StreamChoice.of(told));
    }
    if (instead != null) {
      return new S3AInputStream(parameters);
    }
    ReadEngine own = engine;
    if (own == null) {
      throw new IllegalStateException(getName() + " was not initialized");
    }
    return new S3EObjectInputStream(parameters, own);
  }

  @Override
  public InputStreamType streamType() {
    return InputStreamType.Custom;
  }

  /** None of S3A's threads: S3E has its own. */
  @Override
  public StreamFactoryRequirements factoryRequirements() {
    return new StreamFactoryRequirements(
        0, 0, StreamIntegration.populateVectoredIOContext(getConfig()));
  }

  @Override
  public boolean hasCapability(String capability) {
    return switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.IOSTATISTICS_CONTEXT,
          StreamCapabilities.READAHEAD,
          StreamCapabilities.UNBUFFER,
          StreamCapabilities.VECTOREDIO ->
          true;
      default -> super.hasCapability(capability);
    };
  }
}
