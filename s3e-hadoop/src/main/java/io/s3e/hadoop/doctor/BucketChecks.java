// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.client.aws.AwsClients;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.client.FileSystemClients;
import io.s3e.hadoop.client.StreamChoice;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.DiskCacheKeys;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.hadoop.conf.UnknownKeys;
import io.s3e.hadoop.doctor.Report.Level;
import io.s3e.hadoop.doctor.Report.Section;
import io.s3e.hadoop.hadoop33.Reads;
import io.s3e.hadoop.setup.Requirements;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;

/**
 * Whether S3E would read a bucket, by which client and with which cache. A file system of S3A's is
 * made for each and closed, and the adapter's own decisions are asked of it: no request is sent.
 */
final class BucketChecks {
  private static final String OTHERS = "any-other-bucket";

  /** Settings of S3A's by which the making of a file system would ask or change the store. */
  private static final Map<String, String> WITHOUT_REQUESTS =
      Map.of("fs.s3a.bucket.probe", "0", "fs.s3a.multipart.purge", "false");

  private final Configuration conf;
  private final Seam seam;
  private final Requirements libraries;
  private final Report.Part report;

  /** There is one cache for the JVM: what several buckets say of it is told once. */
  private final Set<String> toldCaches = new HashSet<>();

  private final Set<String> toldCaFiles = new HashSet<>();

  /**
   * @param conf that file systems are made with
   */
  BucketChecks(Configuration conf, Seam seam, Requirements libraries, Report report) {
    this.conf = conf;
    this.seam = seam;
    this.libraries = libraries;
    this.report = report.in(Section.BUCKETS);
  }

  /** A bucket that the user asks for: it is to be done that S3E does not read it. */
  void checkAsked(String bucket) {
    check(bucket, "s3a://" + bucket, Level.TODO);
  }

  /** A bucket with settings of its own, which may be meant to leave it to S3A. */
  void checkConfigured(String bucket) {
    check(bucket, "s3a://" + bucket, Level.NOTE);
  }

  /** The buckets without settings of their own. */
  void checkOthers() {
    check(OTHERS, "any other bucket", Level.TODO);
  }

  private void check(String bucket, String title, Level ifNotRead) {
    Configuration own = new Configuration(conf);
    WITHOUT_REQUESTS.forEach((key, value) -> set(own, bucket, key, value));
    Configuration merged = S3AUtils.propagateBucketOptions(own, bucket);
    try {
      AdapterConfig config = AdapterConfig.read(merged, bucket);
      tellUnknownKeys(bucket, title);
      StreamChoice choice = StreamChoice.of(config, bucket, merged);
      if (choice == StreamChoice.S3E) {
        look(bucket, title, own);
      } else {
        tellNotRead(title, choice, ifNotRead);
      }
    } catch (IllegalArgumentException e) {
      report.todo(title, "cannot be read: " + e.getMessage(), "Correct " + e.getMessage());
    } catch (IOException e) {
      tellNotMade(bucket, title, e);
    }
  }

  private static void set(Configuration conf, String bucket, String key, String value) {
    conf.set(key, value);
    conf.set("fs.s3a.bucket." + bucket + "." + key.substring("fs.s3a.".length()), value);
  }

  private void tellUnknownKeys(String bucket, String title) {
    for (String unknown : UnknownKeys.in(conf, bucket)) {
      report.todo(title, "unknown key " + unknown, "Correct the key " + unknown);
    }
  }

  private void tellNotRead(String title, StreamChoice choice, Level level) {
    String value = "read by S3A's own stream: " + choice.reason();
    if (level == Level.TODO && choice == StreamChoice.S3A_BY_SETTING) {
      report.todo(title, value, "Set " + S3EKeys.ENABLED.name() + " to true");
    } else {
      report.note(title, value);
    }
  }

  private void look(String bucket, String title, Configuration own) {
    try (S3AFileSystem fs = new S3AFileSystem()) {
      fs.initialize(URI.create("s3a://" + bucket), own);
      AdapterConfig config =
          AdapterConfig.read(S3AUtils.propagateBucketOptions(own, bucket), bucket);
      EngineFactory cache = new EngineFactory(config, fs.getConf(), bucket);
      tell(title, fs, config, cache);
    } catch (IOException | RuntimeException e) {
      tellNotMade(bucket, title, e);
    }
  }

  private void tellNotMade(String bucket, String title, Exception e) {
    report.todo(
        title,
        "S3A makes no file system for it: " + ReadTrial.shortened(e),
        "Correct what S3A says of s3a://" + bucket);
  }

  private FileSystemClients.Outlook outlook(
      S3AFileSystem fs, AdapterConfig config, EngineFactory cache) throws IOException {
    if (!libraries.isHadoop33()) {
      return new FileSystemClients(fs, config, cache, () -> {}).outlook();
    }
    Reads.Outlook reads = Reads.outlook(fs);
    return FileSystemClients.Outlook.of(
        config,
        reads::reasonForS3a,
        cache.engine(fs.getUri().toString(), reads.store(), reads.secret()));
  }

  private void tell(String title, S3AFileSystem fs, AdapterConfig config, EngineFactory cache) {
    FileSystemClients.Outlook outlook;
    try {
      outlook = outlook(fs, config, cache);
    } catch (IOException e) {
      report.todo(
          "cache on local disk",
          "none: " + e.getMessage(),
          "Name directories for the cache by "
              + DiskCacheKeys.DIRECTORIES.name()
              + ", or set "
              + DiskCacheKeys.MODE.name()
              + " to memory");
      return;
    }
    String would = seam == Seam.NONE ? "would be read by S3E" : "read by S3E";
    String reason = seam == Seam.STREAM_FACTORY ? "the stream factory's" : outlook.reason();
    if (reason == null) {
      report.ok(title, would + ", client " + outlook.client().text());
    } else {
      report.note(title, would + ", but by S3A's client: " + reason);
    }
    tellTrust(config);
    tellCache(outlook.engine().diskCache(), config);
  }

  private void tellTrust(AdapterConfig config) {
    String file = config.tlsCaFile();
    if (file.isEmpty() || !toldCaFiles.add(file)) {
      return;
    }
    String key = S3EKeys.TLS_CA_FILE.name();
    try {
      AwsClients.checkCaFile(Path.of(file));
    } catch (IllegalArgumentException e) {
      report.todo(
          key, String.valueOf(e.getMessage()), "Set " + key + " to a PEM file of certificates");
    }
  }

  private void tellCache(DiskCacheConfig cache, AdapterConfig config) {
    if (cache.mode() == DiskCacheConfig.Mode.MEMORY) {
      String why =
          config.cache().usesDisk()
              ? "its objects must not go to local disk"
              : DiskCacheKeys.MODE.name() + " is memory";
      if (toldCaches.add(why)) {
        report.note("cache on local disk", "none: " + why);
      }
      return;
    }
    for (Path directory : cache.directories()) {
      if (toldCaches.add(directory.toString())) {
        tellDirectory(cache, directory);
      }
    }
  }

  private void tellDirectory(DiskCacheConfig cache, Path directory) {
    long capacity;
    try {
      capacity = cache.capacityBytes(Files.getFileStore(directory).getUsableSpace());
    } catch (IOException e) {
      report.note("cache on local disk", directory + ": " + e.getMessage());
      return;
    }
    String value =
        String.format(
            Locale.ROOT,
            "up to %s in %s, scope %s",
            MemoryChecks.size(capacity),
            directory,
            cache.scope().name().toLowerCase(Locale.ROOT));
    if (capacity < DiskCacheConfig.LEAST_CAPACITY_BYTES) {
      String least = MemoryChecks.size(DiskCacheConfig.LEAST_CAPACITY_BYTES);
      report.todo(
          "cache on local disk",
          value + ", which is no cache",
          cache.capacityBytes() > 0
              ? "Raise " + DiskCacheKeys.CAPACITY.name() + ": expected 0 or at least " + least
              : "Name another directory by "
                  + DiskCacheKeys.DIRECTORIES.name()
                  + ": "
                  + directory
                  + " has too little room");
    } else {
      report.ok("cache on local disk", value);
    }
  }
}
