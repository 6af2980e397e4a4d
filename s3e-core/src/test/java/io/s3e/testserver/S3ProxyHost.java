package io.s3e.testserver;

import java.net.URI;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;

/**
 * Holds S3Proxy. {@link S3TestServer} may load this class in a loader of its own, so it speaks with
 * it in types of the JDK only: it supplies the endpoint and accepts the names of buckets to create.
 */
final class S3ProxyHost implements Supplier<URI>, Consumer<String>, AutoCloseable {
  private static final URI ANY_PORT = URI.create("http://127.0.0.1:0");

  private final BlobStore store;
  private final S3Proxy proxy;

  /** Starts the server; {@code directory} null keeps the objects in memory. */
  S3ProxyHost(Path directory, boolean signed, String accessKey, String secretKey) throws Exception {
    store =
        new SerialDeletes(
            directory == null
                ? new TransientNio2BlobStore()
                : new FilesystemNio2BlobStore(directory.toString()));
    proxy =
        S3Proxy.builder()
            .blobStore(store)
            .endpoint(ANY_PORT)
            .awsAuthentication(
                signed ? AuthenticationType.AWS_V2_OR_V4 : AuthenticationType.NONE,
                accessKey,
                secretKey)
            .ignoreUnknownHeaders(true)
            .build();
    proxy.start();
  }

  @Override
  public URI get() {
    return URI.create("http://127.0.0.1:" + proxy.getPort());
  }

  @Override
  public void accept(String bucket) {
    store.createContainer(bucket);
  }

  @Override
  public void close() throws Exception {
    proxy.stop();
    store.close();
  }
}
