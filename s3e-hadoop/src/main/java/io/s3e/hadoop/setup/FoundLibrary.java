// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.setup;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.util.Properties;
import org.apache.hadoop.util.VersionInfo;
import org.jspecify.annotations.Nullable;

/**
 * A library that S3E needs and does not bring, as it is found on the class path.
 *
 * @param name what users call it
 * @param version null if it is not there, or does not tell
 * @param jar where it was found; null if it is not there
 */
public record FoundLibrary(String name, @Nullable String version, @Nullable String jar) {
  private static final String HADOOP_AWS_VERSION =
      "META-INF/maven/org.apache.hadoop/hadoop-aws/pom.properties";
  private static final String SDK_1_VERSION = "com/amazonaws/sdk/versionInfo.properties";
  private static final String SDK_VERSION_CLASS = "software.amazon.awssdk.core.util.VersionInfo";

  /** The Hadoop that runs. */
  static FoundLibrary hadoopCommon() {
    return new FoundLibrary(
        "hadoop-common", VersionInfo.getVersion(), place("org.apache.hadoop.fs.FileSystem"));
  }

  /** Its version is that of the jar's own properties, for its classes tell only hadoop-common's. */
  static FoundLibrary hadoopAws() {
    String jar = place("org.apache.hadoop.fs.s3a.S3AFileSystem");
    return new FoundLibrary("hadoop-aws", jar == null ? null : versionIn(HADOOP_AWS_VERSION), jar);
  }

  /** The one of S3A since Hadoop 3.4.0: version 2. */
  static FoundLibrary awsSdk() {
    String jar = place("software.amazon.awssdk.services.s3.S3Client");
    return new FoundLibrary("AWS SDK for Java 2", jar == null ? null : sdkVersion(), jar);
  }

  /** The one of S3A before Hadoop 3.4.0: version 1. */
  static FoundLibrary awsSdk1() {
    String jar = place("com.amazonaws.services.s3.AmazonS3");
    return new FoundLibrary(
        "AWS SDK for Java 1", jar == null ? null : versionIn(SDK_1_VERSION), jar);
  }

  boolean isThere() {
    return jar != null;
  }

  /** Where a class comes from; null if it is not there. Loads nothing. */
  static @Nullable String place(String className) {
    URL found = resource(className.replace('.', '/') + ".class");
    if (found == null) {
      return null;
    }
    try {
      URLConnection connection = found.openConnection();
      return connection instanceof JarURLConnection jar
          ? jar.getJarFileURL().getPath()
          : found.toString();
    } catch (IOException e) {
      return found.toString();
    }
  }

  private static @Nullable URL resource(String name) {
    return FoundLibrary.class.getClassLoader().getResource(name);
  }

  /** What properties of a library say; null if they are not there. */
  private static @Nullable String versionIn(String properties) {
    URL found = resource(properties);
    if (found == null) {
      return null;
    }
    try (InputStream in = found.openStream()) {
      Properties read = new Properties();
      read.load(in);
      return read.getProperty("version");
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable String sdkVersion() {
    try {
      Class<?> type = Class.forName(SDK_VERSION_CLASS, true, FoundLibrary.class.getClassLoader());
      return String.valueOf(type.getField("SDK_VERSION").get(null));
    } catch (ReflectiveOperationException | LinkageError e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return jar == null
        ? "no " + name
        : name + " " + (version == null ? "of unknown version" : version) + " (" + jar + ")";
  }
}
