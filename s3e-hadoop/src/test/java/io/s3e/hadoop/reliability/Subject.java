// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.jspecify.annotations.Nullable;

/** A stream under test: S3E over each of its clients, and S3A's own. */
enum Subject {
  S3E("auto", null),
  S3E_S3A("s3a", null),
  CLASSIC(null, "classic"),
  PREFETCH(null, "prefetch"),
  ANALYTICS(null, "analytics");

  private final @Nullable String client;
  private final @Nullable String stream;

  Subject(@Nullable String client, @Nullable String stream) {
    this.client = client;
    this.stream = stream;
  }

  boolean isS3E() {
    return client != null;
  }

  /** As {@link #configuration}, for some file systems at once whose clients share nothing. */
  Configuration besideOthers(URI endpoint) {
    Configuration conf = configuration(endpoint);
    conf.set("fs.s3a.s3e.memory.budget", "512M");
    return conf;
  }

  /** A file system of its own, with the patience that a user has who sets nothing. */
  Configuration configuration(URI endpoint) {
    Configuration conf = S3AServer.s3a(endpoint);
    conf.unset("fs.s3a.attempts.maximum");
    conf.unset("fs.s3a.retry.limit");
    conf.unset("fs.s3a.retry.interval");
    conf.setBoolean("fs.s3a.connection.ssl.enabled", endpoint.getScheme().equals("https"));
    if (client != null) {
      conf.set("fs.s3a.impl", S3EFileSystem.class.getName());
      conf.set("fs.s3a.s3e.client", client);
    }
    if (stream != null) {
      conf.set("fs.s3a.impl", S3AFileSystem.class.getName());
      conf.set("fs.s3a.input.stream.type", stream);
    }
    return conf;
  }
}
