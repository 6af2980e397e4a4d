// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/**
 * The cheapest client that can be had: ranged GETs one after the other on each connection, a thread
 * a connection, bodies read into one direct buffer and dropped. Requests are signed once; the Range
 * header is not among what is signed. Threads live as long as a call.
 */
final class CheckClient {

  private static final int READ_BYTES = 1 << 20;

  private final URI endpoint;
  private final @Nullable SSLContext tls;
  private final String head;
  private final long objectBytes;

  /**
   * @param endpoint of the server
   * @param path {@code /bucket/key} of the object, no character of which needs an escape
   * @param objectBytes its length
   * @param certificate what to trust; null for plain HTTP
   */
  CheckClient(
      URI endpoint,
      String path,
      long objectBytes,
      AwsCredentialsIdentity identity,
      @Nullable SelfSignedCertificate certificate)
      throws IOException {
    this.endpoint = endpoint;
    this.objectBytes = objectBytes;
    this.tls = certificate == null ? null : certificate.clientContext();
    this.head = signedHead(endpoint, path, identity);
  }

  private static String signedHead(URI endpoint, String path, AwsCredentialsIdentity identity) {
    SdkHttpRequest unsigned =
        SdkHttpRequest.builder().method(SdkHttpMethod.GET).uri(endpoint.resolve(path)).build();
    SdkHttpRequest signed =
        AwsV4HttpSigner.create()
            .sign(
                request ->
                    request
                        .identity(identity)
                        .request(unsigned)
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false))
            .request();
    StringBuilder text = new StringBuilder("GET ").append(path).append(" HTTP/1.1\r\n");
    signed.forEachHeader(
        (name, values) ->
            values.forEach(v -> text.append(name).append(": ").append(v).append("\r\n")));
    return text.toString();
  }

  /**
   * Reads {@code requests} ranges of {@code requestBytes} over each of {@code connections}
   * connections, which are open before the clock starts.
   *
   * @return time from the first request to the last byte of all, in nanoseconds
   */
  long read(int connections, int requests, long requestBytes)
      throws IOException, InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(connections);
    try {
      CyclicBarrier start = new CyclicBarrier(connections);
      List<Future<long[]>> running = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        long first = i * requestBytes;
        running.add(threads.submit(() -> readRanges(start, first, requests, requestBytes)));
      }
      long began = Long.MAX_VALUE;
      long ended = Long.MIN_VALUE;
      for (Future<long[]> each : running) {
        long[] span = each.get();
        began = Math.min(began, span[0]);
        ended = Math.max(ended, span[1]);
      }
      return ended - began;
    } catch (ExecutionException e) {
      throw new IOException("A connection failed: " + e.getCause(), e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  /** First and last instant of one connection's requests. */
  private long[] readRanges(CyclicBarrier start, long first, int requests, long requestBytes)
      throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    try (Wire wire = connect()) {
      start.await(1, TimeUnit.MINUTES);
      long began = System.nanoTime();
      for (int i = 0; i < requests; i++) {
        long position = (first + i * requestBytes) % (objectBytes - requestBytes + 1);
        get(wire, buffer, position, requestBytes);
      }
      return new long[] {began, System.nanoTime()};
    }
  }

  private Wire connect() throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(endpoint.getHost(), endpoint.getPort()));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    if (tls == null) {
      return new PlainWire(channel);
    }
    SSLEngine engine = tls.createSSLEngine(endpoint.getHost(), endpoint.getPort());
    engine.setUseClientMode(true);
    return new TlsWire(channel, engine);
  }

  private void get(Wire wire, ByteBuffer buffer, long position, long length) throws IOException {
    String range = "Range: bytes=" + position + '-' + (position + length - 1) + "\r\n\r\n";
    wire.write(ByteBuffer.wrap((head + range).getBytes(StandardCharsets.ISO_8859_1)));
    long left = length - bodyAfterHead(wire, buffer);
    while (left > 0) {
      buffer.clear();
      left -= readSome(wire, buffer);
    }
    if (left < 0) {
      throw new IOException("The answer is " + -left + " bytes longer than " + range.strip());
    }
  }

  /** Reads up to the end of the answer's head; how many bytes of the body came with it. */
  private static int bodyAfterHead(Wire wire, ByteBuffer buffer) throws IOException {
    buffer.clear();
    while (true) {
      readSome(wire, buffer);
      String text = StandardCharsets.ISO_8859_1.decode(buffer.duplicate().flip()).toString();
      int end = text.indexOf("\r\n\r\n");
      if (end >= 0 && !text.startsWith("HTTP/1.1 206")) {
        throw new IOException("Expected status 206: " + text.lines().findFirst().orElse(""));
      }
      if (end >= 0) {
        return buffer.position() - end - 4;
      }
    }
  }

  private static int readSome(Wire wire, ByteBuffer buffer) throws IOException {
    int got = wire.read(buffer);
    if (got < 0) {
      throw new EOFException("The server closed the connection within an answer");
    }
    return got;
  }
}
