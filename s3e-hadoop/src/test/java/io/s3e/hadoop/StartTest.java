// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.Engines;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lines that a file system logs when it is made and when it begins to read. */
class StartTest {
  private static final String OF_BUCKET = "fs.s3a.bucket." + S3AServer.BUCKET + ".";
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/start/f");

  @TempDir private Path temp;

  private final Configuration conf = S3AReads.small(S3AServer.s3e(S3AServer.endpoint()));

  private static void readOne(FileSystem fs) throws Exception {
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(7);
    }
    for (int i = 0; i < 2; i++) {
      try (FSDataInputStream in = fs.open(FILE)) {
        assertThat(in.read()).isEqualTo(7);
      }
    }
  }

  /** The engine, which keeps files in the directory. */
  @AfterEach
  void endEngine() {
    Engines.endIdle();
  }

  @Test
  void oneLineTellsWhatReads() throws Exception {
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.dirs", temp.toString());
    conf.set("fs.s3a.s3e.cache.capacity", "32M");
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    conf.set("fs.s3a.s3e.client", "s3a");
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      assertThat(log.lines("INFO S3EFileSystem - S3E")).isEmpty();
      readOne(fs);
      // It is told when the cache on disk is open, for which the read does not wait.
      awaitTrue(() -> !log.lines("INFO S3EFileSystem - S3E").isEmpty());
      List<String> said = log.lines("INFO S3EFileSystem - S3E");
      assertThat(said).hasSize(1);
      assertThat(said.get(0))
          .contains("reads s3a://" + S3AServer.BUCKET + " by client s3a;")
          .containsPattern("budget \\d+ MiB, blocks of 64K;")
          .contains("cache in memory and 32 MiB in [" + temp + "] (disk, private, encrypted);")
          .endsWith("Hadoop " + VersionInfo.getVersion());
    }
  }

  @Test
  @Slow
  void aCacheInMemoryOnlyIsToldToo() throws Exception {
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      readOne(fs);
      assertThat(log.lines("cache in memory only;")).hasSize(1);
    }
  }

  /** As S3A takes it: the scheme is that of another key. */
  @Test
  void anEndpointNeedsNoScheme() throws Exception {
    conf.set("fs.s3a.endpoint", S3AServer.endpoint().getAuthority());
    conf.setBoolean("fs.s3a.connection.ssl.enabled", false);
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      readOne(fs);
      assertThat(log.lines("reads s3a://" + S3AServer.BUCKET + " by client crt")).hasSize(1);
    }
  }

  @Test
  @Slow
  void keysThatNobodyKnowsAreToldOnce() throws Exception {
    conf.set("fs.s3a.s3e.blok.size", "1");
    conf.set(OF_BUCKET + "s3e.clint", "crt");
    // Others in each run: one JVM tells of them once.
    conf.set("fs.s3a.s3e.unknown-" + System.nanoTime(), "x");
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf);
        FileSystem ofAnother = S3AReads.open(conf)) {
      readOne(fs);
      readOne(ofAnother);
      List<String> said = log.lines("does not know");
      assertThat(said).hasSize(1);
      assertThat(said.get(0))
          .contains("WARN")
          .contains("did you mean fs.s3a.s3e.block.size?")
          .contains("did you mean " + OF_BUCKET + "s3e.client?");
    }
  }

  @Test
  @Slow
  void anotherStreamThatIsOverriddenIsToldOnce() throws Exception {
    conf.set(OF_BUCKET + "input.stream.type", "classic");
    conf.set("fs.s3a.prefetch.enabled", "true");
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      readOne(fs);
      List<String> said = log.lines("in spite of");
      assertThat(said).hasSize(1);
      assertThat(said.get(0))
          .contains("INFO")
          .contains("fs.s3a.input.stream.type = \"classic\", fs.s3a.prefetch.enabled = \"true\"")
          .contains("fs.s3a.s3e.enabled");
    }
  }

  @Slow
  @Test
  void nothingIsSaidOfStreamsThatNobodyChose() throws Exception {
    conf.set("fs.s3a.input.stream.type", "default");
    conf.set("fs.s3a.prefetch.enabled", "false");
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      readOne(fs);
      assertThat(log.lines("in spite of")).isEmpty();
      assertThat(log.lines("does not know")).isEmpty();
    }
  }

  @Test
  void aPathCapabilityTellsS3E() throws Exception {
    try (FileSystem fs = S3AReads.open(conf)) {
      assertThat(fs.hasPathCapability(FILE, "fs.s3a.s3e")).isTrue();
      assertThat(fs.hasPathCapability(FILE, "fs.s3a.s3e.other")).isFalse();
      assertThat(fs.hasPathCapability(FILE, "fs.s3a.capability.directory.marker.aware")).isTrue();
    }
    conf.set("fs.s3a.s3e.enabled", "false");
    try (FileSystem fs = S3AReads.open(conf)) {
      assertThat(fs.hasPathCapability(FILE, "fs.s3a.s3e")).isFalse();
    }
  }

  /** The store is named by S3A's key, which S3A adds to Hadoop's when the file system is made. */
  @Test
  @Slow
  void theCachesSecretIsFoundWhereS3AsAre() throws Exception {
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.dirs", temp.toString());
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    assertThatThrownBy(() -> S3AReads.open(conf))
        .hasStackTraceContaining("fs.s3a.s3e.cache.key is not set");
    String store = "jceks://file" + temp + "/keys.jceks";
    Configuration providers = new Configuration(false);
    providers.set("hadoop.security.credential.provider.path", store);
    CredentialProvider provider = CredentialProviderFactory.getProviders(providers).get(0);
    provider.createCredentialEntry(
        "fs.s3a.s3e.cache.key", Base64.getEncoder().encodeToString(new byte[32]).toCharArray());
    provider.flush();
    conf.set("fs.s3a.security.credential.provider.path", store);
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      readOne(fs);
      // The read does not wait for the cache on disk.
      awaitTrue(() -> !log.lines("(disk, host, encrypted);").isEmpty());
    }
  }
}
