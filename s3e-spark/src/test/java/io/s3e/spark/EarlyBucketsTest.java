// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3EFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What Hadoop has cached of buckets before the plugin could say who reads them. */
class EarlyBucketsTest {
  private final SparkConf spark = new SparkConf(false);
  private final Configuration hadoop = new Configuration(false);

  /** Stands for S3A's. */
  public static final class Early extends RawLocalFileSystem {
    static final AtomicInteger OPENED = new AtomicInteger();

    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      OPENED.incrementAndGet();
      super.initialize(uri, conf);
    }
  }

  /** Does not open. */
  public static final class Broken extends RawLocalFileSystem {
    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      throw new IOException("no credentials");
    }
  }

  /** Stands for S3E's, without S3A's part. */
  public static final class Quiet extends S3EFileSystem {
    @Override
    public void initialize(URI uri, Configuration conf) {
      setConf(conf);
    }

    @Override
    public void close() {}
  }

  @AfterEach
  void forget() throws IOException {
    FileSystem.closeAll();
  }

  private void open(Class<? extends FileSystem> by, String... buckets) throws IOException {
    hadoop.set("fs.s3a.impl", by.getName());
    for (String bucket : buckets) {
      assertThat(FileSystem.get(URI.create("s3a://" + bucket), hadoop)).isInstanceOf(by);
    }
  }

  @Test
  void eachBucketThatAnotherFileSystemReadsIsNamedOnce() throws IOException {
    open(Early.class, "jars", "files", "elsewhere");
    open(Quiet.class, "archives");
    int opened = Early.OPENED.get();
    spark
        .set("spark.jars", "s3a://jars/a.jar, s3a://jars/b.jar,/local/c.jar")
        .set("spark.files", "hdfs://name/x")
        .set("spark.app.initial.file.urls", "s3a://files/x,spark://driver/files/y")
        .set("spark.archives", "s3a://archives/x.zip#x");
    assertThat(EarlyBuckets.notReadByS3E(spark, hadoop)).containsExactly("files", "jars");
    assertThat(Early.OPENED).hasValue(opened);
  }

  @Test
  void bucketsThatS3eIsNotToReadAreNotNamed() throws IOException {
    open(Early.class, "jars", "files");
    hadoop.set("fs.s3a.impl", Quiet.class.getName());
    spark.set("spark.jars", "s3a://jars/a.jar").set("spark.files", "s3a://files/x");
    hadoop.set("fs.s3a.bucket.jars.s3e.enabled", "false");
    assertThat(EarlyBuckets.notReadByS3E(spark, hadoop)).containsExactly("files");
    hadoop.set("fs.s3a.s3e.enabled", "false");
    assertThat(EarlyBuckets.notReadByS3E(spark, hadoop)).isEmpty();
    hadoop.unset("fs.s3a.s3e.enabled");
    hadoop.set("fs.s3a.impl.disable.cache", "true");
    assertThat(EarlyBuckets.notReadByS3E(spark, hadoop)).as("each is opened anew").isEmpty();
  }

  @Test
  void aLookThatFailsNamesNothing() {
    hadoop.set("fs.s3a.impl", Broken.class.getName());
    spark.set("spark.jars", "s3a://broken/a.jar,s3a:///none,s3a://a b/x");
    assertThat(EarlyBuckets.notReadByS3E(spark, hadoop)).isEmpty();
    hadoop.set("fs.s3a.impl", "org.example.Absent");
    assertThat(EarlyBuckets.notReadByS3E(spark, hadoop)).isEmpty();
  }
}
