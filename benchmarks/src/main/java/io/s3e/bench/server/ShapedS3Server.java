package io.s3e.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/**
 * An S3 server on the loopback device, path-style, one pair of keys, plain HTTP.
 *
 * <p>Owns an S3Proxy, an acceptor thread and one daemon thread a connection; {@link #close} ends
 * them all. Objects live as files under the root and stay there when it is closed.
 */
public final class ShapedS3Server implements AutoCloseable {

  /**
   * What a server is made of.
   *
   * @param root directory of the objects; it must exist
   * @param port port on the loopback device, 0 for any that is free
   * @param accessKey the one identity that the server knows
   * @param secretKey its secret
   * @param shape pace of the answers to reads
   */
  public record Settings(Path root, int port, String accessKey, String secretKey, Shape shape) {}

  private final ServerSocketChannel acceptor;
  private final S3Proxy s3Proxy;
  private final FilesystemNio2BlobStore store;
  private final RequestLog log = new RequestLog();
  private final Set<SocketChannel> connections = ConcurrentHashMap.newKeySet();
  private final Settings settings;
  private final SignatureV4 signatures;
  private final ObjectFiles files;
  private final Relay relay;

  private ShapedS3Server(Settings settings) throws IOException {
    this.settings = settings;
    this.store = new FilesystemNio2BlobStore(settings.root().toString());
    this.s3Proxy = startS3Proxy(settings, store);
    this.signatures = new SignatureV4(settings.accessKey(), settings.secretKey());
    this.files = new ObjectFiles(settings.root(), store);
    InetAddress loopback = InetAddress.getLoopbackAddress();
    InetSocketAddress upstream = new InetSocketAddress(loopback, s3Proxy.getPort());
    this.relay = new Relay(upstream, settings.shape(), log);
    this.acceptor = ServerSocketChannel.open();
  }

  /**
   * Starts a server and returns once it answers.
   *
   * @throws IOException when the port is taken or S3Proxy does not start
   */
  public static ShapedS3Server start(Settings settings) throws IOException {
    ShapedS3Server server = new ShapedS3Server(settings);
    boolean started = false;
    try {
      server.acceptor.bind(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), settings.port()), 1024);
      Thread thread = new Thread(server::acceptUntilClosed, "s3-acceptor");
      thread.setDaemon(true);
      thread.start();
      started = true;
      return server;
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  private static S3Proxy startS3Proxy(Settings settings, FilesystemNio2BlobStore store)
      throws IOException {
    S3Proxy s3Proxy =
        S3Proxy.builder()
            .blobStore(store)
            .endpoint(URI.create("http://127.0.0.1:0"))
            .awsAuthentication(
                AuthenticationType.AWS_V4, settings.accessKey(), settings.secretKey())
            .ignoreUnknownHeaders(true)
            .build();
    try {
      s3Proxy.start();
      return s3Proxy;
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("S3Proxy did not start: " + e.getMessage(), e);
    }
  }

  /** Where clients connect: {@code http://127.0.0.1:port}. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + acceptor.socket().getLocalPort());
  }

  /** Counts since the start. */
  public ServerStats stats() {
    return log.snapshot();
  }

  private void acceptUntilClosed() {
    long number = 0;
    try {
      while (true) {
        SocketChannel client = acceptor.accept();
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        connections.add(client);
        Runnable connection =
            new ClientConnection(client, settings.shape(), signatures, files, relay, log);
        Thread thread =
            new Thread(
                () -> {
                  try {
                    connection.run();
                  } finally {
                    connections.remove(client);
                  }
                },
                "s3-connection-" + number++);
        thread.setDaemon(true);
        thread.start();
      }
    } catch (ClosedChannelException closed) {
      return;
    } catch (IOException e) {
      throw new UncheckedIOException("The server can accept no more connections", e);
    }
  }

  /** Stops accepting, breaks open connections and stops S3Proxy. Idempotent. */
  @Override
  public void close() throws IOException {
    acceptor.close();
    for (SocketChannel connection : connections) {
      connection.close();
    }
    try {
      s3Proxy.stop();
    } catch (Exception e) {
      throw new IOException("S3Proxy did not stop: " + e.getMessage(), e);
    } finally {
      store.close();
    }
  }
}
