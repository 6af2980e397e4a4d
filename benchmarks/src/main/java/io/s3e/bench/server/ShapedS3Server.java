// SPDX-License-Identifier: Apache-2.0
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
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.jspecify.annotations.Nullable;

/**
 * An S3 server on the loopback device, path-style, one pair of keys, plain HTTP or TLS.
 *
 * <p>Owns an S3Proxy, an acceptor thread and one daemon thread a connection; {@link #close} ends
 * them all. Objects live as files under the root and stay there when it is closed.
 */
public final class ShapedS3Server implements AutoCloseable {

  /**
   * The parts of a server.
   *
   * @param root directory of the objects; it must exist
   * @param port port on the loopback device, 0 for any that is free
   * @param accessKey the one identity that the server knows
   * @param secretKey its secret
   * @param shape pace of the answers to reads
   * @param certificate what the server shows of itself; null for plain HTTP
   * @param requestLog file that takes a line of every request; null for none
   * @param hangingBucket bucket whose object GETs are accepted and never answered; null for none
   * @param refusing what the names of buckets begin with of which one GET in twenty is answered by
   *     503; null for none
   */
  public record Settings(
      Path root,
      int port,
      String accessKey,
      String secretKey,
      Shape shape,
      @Nullable SelfSignedCertificate certificate,
      @Nullable Path requestLog,
      @Nullable String hangingBucket,
      @Nullable String refusing) {

    /** Plain HTTP, no file of requests, and no bucket that hangs or refuses. */
    public Settings(Path root, int port, String accessKey, String secretKey, Shape shape) {
      this(root, port, accessKey, secretKey, shape, null, null, null, null);
    }
  }

  private final ServerSocketChannel acceptor;
  private final S3Proxy s3Proxy;
  private final FilesystemNio2BlobStore store;
  private final RequestLog log;
  private final Set<SocketChannel> connections = ConcurrentHashMap.newKeySet();
  private final Settings settings;
  private final SignatureV4 signatures;
  private final ObjectFiles files;
  private final Shaper shaper;
  private final Relay relay;
  private final Refusals refusals;
  private final ClientConnection.WireFactory wires;

  private ShapedS3Server(Settings settings) throws IOException {
    this.settings = settings;
    this.wires = wires(settings.certificate());
    Path requestLog = settings.requestLog();
    this.log = new RequestLog(requestLog == null ? null : new RequestLogFile(requestLog));
    this.store = new FilesystemNio2BlobStore(settings.root().toString());
    this.s3Proxy = startS3Proxy(settings, store);
    this.signatures = new SignatureV4(settings.accessKey(), settings.secretKey());
    this.files = new ObjectFiles(settings.root(), store);
    InetAddress loopback = InetAddress.getLoopbackAddress();
    InetSocketAddress upstream = new InetSocketAddress(loopback, s3Proxy.getPort());
    this.shaper = new Shaper(settings.shape());
    this.relay = new Relay(upstream, shaper);
    this.refusals = new Refusals(settings.refusing());
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

  private static ClientConnection.WireFactory wires(@Nullable SelfSignedCertificate certificate)
      throws IOException {
    if (certificate == null) {
      return PlainWire::new;
    }
    SSLContext context = certificate.serverContext();
    return accepted -> {
      SSLEngine engine = context.createSSLEngine();
      engine.setUseClientMode(false);
      return new TlsWire(accepted, engine);
    };
  }

  /** Where clients connect: {@code http://127.0.0.1:port}, or https when it has a certificate. */
  public URI endpoint() {
    String scheme = settings.certificate() == null ? "http" : "https";
    return URI.create(scheme + "://127.0.0.1:" + acceptor.socket().getLocalPort());
  }

  /**
   * Where objects can be written past shape, encryption, counts and log: S3Proxy itself, plain
   * HTTP.
   */
  public URI backEndpoint() {
    return URI.create("http://127.0.0.1:" + s3Proxy.getPort());
  }

  /** Counts since the start. */
  public ServerStats stats() {
    return log.snapshot();
  }

  /** Has every request that has ended stand in the file of requests, if there is one. */
  public void flushRequestLog() throws IOException {
    log.flush();
  }

  private boolean hangs(HttpHead request) {
    String bucket = settings.hangingBucket();
    return bucket != null && request.rawPath().startsWith('/' + bucket + '/');
  }

  private void acceptUntilClosed() {
    long number = 0;
    try {
      while (true) {
        SocketChannel client = acceptor.accept();
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        connections.add(client);
        Runnable connection =
            new ClientConnection(
                client,
                number,
                wires,
                shaper,
                signatures,
                files,
                relay,
                log,
                this::hangs,
                refusals);
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
      log.close();
    }
  }
}
