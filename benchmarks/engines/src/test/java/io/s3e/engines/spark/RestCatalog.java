// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.rest.CatalogHandlers;
import org.apache.iceberg.rest.RESTCatalogProperties.SnapshotMode;
import org.apache.iceberg.rest.RESTSerializers;
import org.apache.iceberg.rest.requests.CreateNamespaceRequest;
import org.apache.iceberg.rest.requests.CreateTableRequest;
import org.apache.iceberg.rest.requests.UpdateTableRequest;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.apache.iceberg.rest.responses.LoadTableResponse;

/**
 * A catalog by Iceberg's REST protocol, as far as Spark asks it for tables: Iceberg's own handlers
 * over a catalog in memory. With each table, and whenever a client asks for them again, it vends
 * credentials that end soon. Its table metadata stays here, since clients get it with each answer.
 */
final class RestCatalog implements AutoCloseable {
  private static final String CREDENTIALS = "client.refresh-credentials-endpoint";

  private final InMemoryCatalog tables = new InMemoryCatalog();
  private final ObjectMapper json = new ObjectMapper();
  private final AtomicInteger vended = new AtomicInteger();
  private final AtomicInteger renewed = new AtomicInteger();
  private final Map<String, String> keys;
  private final Duration life;
  private final HttpServer server;

  /**
   * @param warehouse below which tables lie, with a scheme
   * @param keys key and secret that the store knows, by Iceberg's names
   * @param life of credentials
   */
  RestCatalog(String warehouse, Map<String, String> keys, Duration life) throws IOException {
    this.keys = keys;
    this.life = life;
    tables.initialize("served", Map.of("warehouse", warehouse));
    json.setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY);
    json.configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
    json.setPropertyNamingStrategy(new PropertyNamingStrategies.KebabCaseStrategy());
    RESTSerializers.registerAll(json);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 50);
    server.createContext("/v1/", this::serve);
    server.start();
  }

  String uri() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** How often credentials were asked for again. */
  int renewed() {
    return renewed.get();
  }

  @Override
  public void close() throws IOException {
    server.stop(0);
    tables.close();
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      int status = 200;
      Object answer;
      try {
        String path = exchange.getRequestURI().getPath().substring("/v1/".length());
        answer = answer(exchange, exchange.getRequestMethod(), path.split("/"));
      } catch (NoSuchTableException | NoSuchNamespaceException e) {
        status = 404;
        answer = error(status, e);
      } catch (AlreadyExistsException | CommitFailedException e) {
        status = 409;
        answer = error(status, e);
      } catch (RuntimeException e) {
        status = 500;
        answer = error(status, e);
      }
      if (answer == null || exchange.getRequestMethod().equals("HEAD")) {
        exchange.sendResponseHeaders(status == 200 ? 204 : status, -1);
        return;
      }
      byte[] body = json.writeValueAsBytes(answer);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private static ErrorResponse error(int status, RuntimeException e) {
    return ErrorResponse.builder()
        .responseCode(status)
        .withType(e.getClass().getSimpleName())
        .withMessage(String.valueOf(e.getMessage()))
        .build();
  }

  /** Null where there is nothing to say. */
  private Object answer(HttpExchange exchange, String method, String[] path) throws IOException {
    String last = path[path.length - 1];
    if (last.equals("config")) {
      return Map.of("defaults", Map.of(), "overrides", Map.of());
    }
    if (path.length == 1) {
      CreateNamespaceRequest request = read(exchange, CreateNamespaceRequest.class);
      return CatalogHandlers.createNamespace(tables, request);
    }
    Namespace namespace = Namespace.of(path[1]);
    if (path.length == 2) {
      return CatalogHandlers.loadNamespace(tables, namespace);
    }
    if (path.length == 3) {
      CreateTableRequest request = read(exchange, CreateTableRequest.class);
      return vending(
          request.stageCreate()
              ? CatalogHandlers.stageTableCreate(tables, namespace, request)
              : CatalogHandlers.createTable(tables, namespace, request),
          String.join("/", path) + '/' + request.name());
    }
    TableIdentifier table = TableIdentifier.of(namespace, path[3]);
    if (last.equals("credentials")) {
      renewed.incrementAndGet();
      return Map.of(
          "storage-credentials", List.of(Map.of("prefix", "s3", "config", credentials())));
    }
    if (last.equals("metrics")) {
      return null;
    }
    String asked = String.join("/", path);
    return switch (method) {
      case "POST" ->
          vending(
              CatalogHandlers.updateTable(tables, table, read(exchange, UpdateTableRequest.class)),
              asked);
      case "DELETE" -> {
        CatalogHandlers.dropTable(tables, table);
        yield null;
      }
      default -> vending(CatalogHandlers.loadTable(tables, table, SnapshotMode.ALL), asked);
    };
  }

  private <T> T read(HttpExchange exchange, Class<T> type) throws IOException {
    return json.readValue(exchange.getRequestBody(), type);
  }

  private LoadTableResponse vending(LoadTableResponse table, String path) {
    return LoadTableResponse.builder()
        .withTableMetadata(table.tableMetadata())
        .addAllConfig(credentials())
        .addConfig(CREDENTIALS, "/v1/" + path + "/credentials")
        .build();
  }

  private Map<String, String> credentials() {
    Instant end = Instant.now().plus(life);
    return Map.of(
        "s3.access-key-id", keys.get("s3.access-key-id"),
        "s3.secret-access-key", keys.get("s3.secret-access-key"),
        "s3.session-token", "vended-" + vended.incrementAndGet(),
        "s3.session-token-expires-at-ms", Long.toString(end.toEpochMilli()));
  }
}
