// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

/**
 * The text of docs/CONFIGURATION.md from {@link S3EKeys}. A test fails when the file is out of
 * date.
 */
final class ConfigurationReference {
  private static final int LONGEST_LINE = 120;

  private ConfigurationReference() {}

  /** The whole document. */
  static String markdown() {
    StringBuilder text = new StringBuilder(INTRODUCTION);
    text.append("## All settings\n\n");
    text.append("| key | type | default | accepted |\n|---|---|---|---|\n");
    for (ConfigKey<?> key : S3EKeys.ALL) {
      text.append("| [`").append(key.name()).append("`](#").append(anchor(key)).append(") | ");
      text.append(key.type()).append(" | ");
      text.append(key.defaultText().isEmpty() ? "(none)" : "`" + key.defaultText() + "`");
      text.append(" | ").append(key.accepted()).append(" |\n");
    }
    for (ConfigKey<?> key : S3EKeys.ALL) {
      text.append("\n### ").append(key.name()).append("\n\n");
      StringBuilder about = new StringBuilder(key.description());
      S3ADefault<?> fromS3A = key.fromS3A();
      if (fromS3A != null) {
        about.append(" The default is ").append(fromS3A.rule()).append('.');
      }
      if (S3EKeys.OF_THE_JVM.contains(key)) {
        about.append(" *One for the JVM.*");
      }
      text.append(wrapped(about.toString()));
    }
    return text.append(FROM_S3A).toString();
  }

  /** A line does not begin with a sign: a list would begin there. */
  private static String wrapped(String paragraph) {
    return paragraph.replaceAll("(.{1," + LONGEST_LINE + "})( (?![+*-] )|$)", "$1\n");
  }

  private static String anchor(ConfigKey<?> key) {
    return key.name().replace(".", "");
  }

  private static final String INTRODUCTION =
      """
      <!-- Generated from io.s3e.hadoop.conf.S3EKeys by io.s3e.hadoop.conf.ConfigurationReference. Do not edit. -->
      # Configuration

      S3E is switched on by one property in `core-site.xml`:

      ```xml
      <property>
        <name>fs.s3a.impl</name>
        <value>io.s3e.hadoop.S3EFileSystem</value>
      </property>
      ```

      Programs that use `FileContext` want one more:

      ```xml
      <property>
        <name>fs.AbstractFileSystem.s3a.impl</name>
        <value>io.s3e.hadoop.S3EAbstractFileSystem</value>
      </property>
      ```

      From Hadoop 3.4.2 on, S3E's stream can also be plugged into S3A's own file system. It then
      reads through S3A's client only, and does not learn `split.start`, `split.end` and the list of
      read policies that `openFile()` was given:

      ```xml
      <property>
        <name>fs.s3a.input.stream.type</name>
        <value>custom</value>
      </property>
      <property>
        <name>fs.s3a.input.stream.custom.factory</name>
        <value>io.s3e.hadoop.S3EStreamFactory</value>
      </property>
      ```

      Every setting can be given for one bucket: `fs.s3a.bucket.NAME.s3e.read.timeout` overrides
      `fs.s3a.s3e.read.timeout` for the bucket `NAME`. A setting that is marked *One for the JVM*
      applies only if that bucket is read first. Sizes take the suffixes `K`, `M`, `G` and `T`
      (powers of 1024). Durations take `ms`, `s`, `m` and `h`; a bare number is milliseconds. A
      value that is not accepted fails the file system when it is made, with a message that names
      the key, the value and what is accepted.

      All file systems of a JVM read through one engine: one memory budget, one set of connections,
      one cache on disk. Settings marked *One for the JVM* are its: the value of the first file
      system that reads stands until the last one has closed, and one WARN tells a file system that
      asks for another. Everything else is a file system's own.

      """;

  private static final String FROM_S3A =
      """

      ## What comes from S3A

      Credentials, region, endpoint, path style, SSE-C keys, requester-pays and custom headers
      (`fs.s3a.client.s3.custom.headers`) and the user agent are S3A's, whichever client fetches.
      Every GET carries the audit span of the stream that caused it (not on Hadoop 3.3): by
      S3A's interceptors with the client `s3a`, as the `Referer` header that the span makes with
      the others.

      The CRT trusts what the JVM trusts, and follows a bucket into the region that the store
      names where S3A's client does (`fs.s3a.cross.region.access.enabled`). Its TLS and its
      signatures are its own code all the same: the JVM's `jdk.tls.*` and `jdk.certpath.*`
      properties do not hold for it, nor does a FIPS provider. Where they have to,
      `fs.s3a.s3e.client` = `s3a` has S3A's client read, on Hadoop 3.3 S3A's own stream;
      `fs.s3a.s3e.enabled` = `false` leaves all to S3A.

      The client `s3a` is used, and one INFO line a file system says why, for: FIPS endpoints,
      custom signers, S3 Access Grants, access points of Outposts, Object Lambda and S3 Express,
      S3 Express buckets without sessions (`fs.s3a.s3express.create.session`), a client factory
      or execution interceptors of the user's own, a proxy that S3A's client takes to the bucket
      (`fs.s3a.proxy.*`, `http.proxyHost`, `HTTP_PROXY`, SOCKS; not a host that the proxy is not
      for), and client certificates (`javax.net.ssl.keyStore`).
      Client-side encryption is read by S3A's own stream.

      Where the native library of the CRT does not load, `fs.s3a.s3e.client` = `auto` reads by `s3a`
      with a WARN line, and `crt` fails.

      [S3A-KEYS.md](S3A-KEYS.md) has every key of S3A's and what it means under S3E.
      """;
}
