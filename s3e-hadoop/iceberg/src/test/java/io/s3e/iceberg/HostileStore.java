// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.block.ObjectRef;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.io.FileIO;

/** A bucket of a server that does wrong what it is told to, and knows who asked for what. */
final class HostileStore implements AutoCloseable {
  static final String BUCKET = "lake";
  private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");
  private static final Pattern KEY_ID = Pattern.compile("Credential=([^/]+)/");

  final HostileS3Server server;

  HostileStore() throws IOException {
    server = HostileS3Server.startApart();
  }

  static String location(String key) {
    return "s3://" + BUCKET + "/" + key;
  }

  /** Bytes that a formula gives, so that no other object has them. */
  StoredContent put(String key, long size, int version) {
    StoredContent content = StoredContent.generated(size, version);
    server.put(new ObjectRef(BUCKET, key), content);
    return content;
  }

  void put(String key, byte[] content) {
    server.put(new ObjectRef(BUCKET, key), content);
  }

  /** Of a catalog that is there. */
  Map<String, String> properties(String... more) {
    Map<String, String> properties = new HashMap<>();
    properties.put("s3.endpoint", server.endpoint().toString());
    properties.put("s3.path-style-access", "true");
    properties.put("s3.access-key-id", "catalogs");
    properties.put("s3.secret-access-key", "secret");
    properties.put("client.region", "us-east-1");
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    return properties;
  }

  <F extends FileIO> F open(F io, String... more) {
    io.initialize(properties(more));
    return io;
  }

  /** Bytes that were asked for since the requests were forgotten. */
  long bytesAsked() {
    return server.gets().stream()
        .map(request -> RANGE.matcher(request.header("Range")))
        .filter(Matcher::matches)
        .mapToLong(range -> 1 + Long.parseLong(range.group(2)) - Long.parseLong(range.group(1)))
        .sum();
  }

  /** The access keys that GETs of objects below a prefix were signed with. */
  List<String> signers(String prefix) {
    return server.gets().stream()
        .filter(request -> request.target().startsWith("/" + BUCKET + "/" + prefix))
        .map(HostileStore::signer)
        .distinct()
        .toList();
  }

  static String signer(HostileS3Server.Request request) {
    Matcher signed = KEY_ID.matcher(String.valueOf(request.header("Authorization")));
    return signed.find() ? signed.group(1) : "nobody";
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
