// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

/** The libraries that S3E under Hadoop consists of or stands upon, and how each is recognized. */
enum Library {
  S3E("S3E", "io/s3e/S3E.class", "io/s3e/version/version.properties"),
  PLUGIN(
      "S3E's plugin for Spark",
      "io/s3e/spark/S3EPlugin.class",
      "io/s3e/version/version.properties"),
  SLF4J("SLF4J", "org/slf4j/LoggerFactory.class", pom("org.slf4j", "slf4j-api")),
  HADOOP("Hadoop", "org/apache/hadoop/conf/Configuration.class", "common-version-info.properties"),
  HADOOP_AWS(
      "hadoop-aws",
      "org/apache/hadoop/fs/s3a/S3AFileSystem.class",
      pom("org.apache.hadoop", "hadoop-aws")),
  /** That of Hadoop 3.3, in place of all parts of version 2. */
  SDK_1(
      "AWS SDK 1",
      "com/amazonaws/services/s3/AmazonS3.class",
      "com/amazonaws/sdk/versionInfo.properties"),
  SDK_CORE(
      "AWS SDK, core",
      "software/amazon/awssdk/core/SdkClient.class",
      pom("software.amazon.awssdk", "sdk-core")),
  SDK_S3(
      "AWS SDK, s3",
      "software/amazon/awssdk/services/s3/S3Client.class",
      pom("software.amazon.awssdk", "s3")),
  SDK_TRANSFER(
      "AWS SDK, s3-transfer-manager",
      "software/amazon/awssdk/transfer/s3/S3TransferManager.class",
      pom("software.amazon.awssdk", "s3-transfer-manager")),
  SDK_APACHE(
      "AWS SDK, apache-client",
      "software/amazon/awssdk/http/apache/ApacheHttpClient.class",
      pom("software.amazon.awssdk", "apache-client")),
  SDK_NETTY(
      "AWS SDK, netty-nio-client",
      "software/amazon/awssdk/http/nio/netty/NettyNioAsyncHttpClient.class",
      pom("software.amazon.awssdk", "netty-nio-client")),
  SDK_STS(
      "AWS SDK, sts",
      "software/amazon/awssdk/services/sts/StsClient.class",
      pom("software.amazon.awssdk", "sts")),
  CRT(
      "aws-crt of the application",
      "software/amazon/awssdk/crt/CRT.class",
      pom("software.amazon.awssdk.crt", "aws-crt")),
  SPARK("Spark", "org/apache/spark/SparkContext.class", "spark-version-info.properties");

  final String title;
  final String marker;
  final String versionFile;

  /**
   * @param marker a class file that nothing else has
   * @param versionFile properties in the same jar with a key "version"
   */
  Library(String title, String marker, String versionFile) {
    this.title = title;
    this.marker = marker;
    this.versionFile = versionFile;
  }

  private static String pom(String group, String artifact) {
    return "META-INF/maven/" + group + "/" + artifact + "/pom.properties";
  }

  /** Whether S3E under Hadoop does not work without it. */
  boolean isRequired() {
    return this != PLUGIN && this != CRT && this != SPARK;
  }

  /** Whether it is a part of version 2 of the AWS SDK, for Java 2. */
  boolean isOfSdk2() {
    return marker.startsWith("software/amazon/awssdk/") && this != CRT;
  }
}
