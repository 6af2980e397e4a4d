// SPDX-License-Identifier: Apache-2.0
package io.s3e.testserver;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.gaul.shaded.org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.gaul.shaded.org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.gaul.shaded.org.eclipse.jetty.server.Server;

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
    readEmptyBodies(proxy);
    proxy.start();
  }

  /**
   * Reads the chunk that ends an empty body. S3Proxy leaves it unread, so that its HTTP server
   * closes the connection; the client's next request there fails, and the SDK sends it again after
   * a pause of about 50 ms: each marker of a directory would cost that.
   */
  private static void readEmptyBodies(S3Proxy proxy) throws ReflectiveOperationException {
    Field field = S3Proxy.class.getDeclaredField("server");
    field.setAccessible(true);
    for (ServletContextHandler context :
        ((Server) field.get(proxy)).getDescendants(ServletContextHandler.class)) {
      context.addFilter(
          new FilterHolder(S3ProxyHost::endEmptyBody), "/*", EnumSet.of(DispatcherType.REQUEST));
    }
  }

  /** A client whose request was refused may send no body at all, so nobody waits for that. */
  private static void endEmptyBody(
      ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    chain.doFilter(request, response);
    if ("0".equals(((HttpServletRequest) request).getHeader("x-amz-decoded-content-length"))
        && ((HttpServletResponse) response).getStatus() < 300) {
      request.getInputStream().transferTo(OutputStream.nullOutputStream());
    }
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
