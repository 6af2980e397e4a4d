// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import io.s3e.testing.SelfSigned;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/**
 * A server of one version of TLS, old ones too: says its port, and how each handshake has ended.
 */
final class OneTlsVersion {
  private OneTlsVersion() {}

  public static void main(String[] args) throws Exception {
    SelfSigned certificate = new SelfSigned(Path.of(args[0]), Path.of(args[0]));
    try (SSLServerSocket server =
        (SSLServerSocket)
            certificate
                .serverContext()
                .getServerSocketFactory()
                .createServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      server.setEnabledProtocols(new String[] {args[1]});
      System.out.println("port " + server.getLocalPort());
      while (true) {
        try (SSLSocket client = (SSLSocket) server.accept()) {
          client.startHandshake();
          System.out.println("handshake agreed");
        } catch (SSLHandshakeException e) {
          System.out.println("handshake refused: " + e.getMessage());
        } catch (IOException e) {
          System.out.println("another end: " + e);
        }
      }
    }
  }
}
