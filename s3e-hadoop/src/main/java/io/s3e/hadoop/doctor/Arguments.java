// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The arguments of the doctor.
 *
 * @param json one JSON document in place of text
 * @param help the usage alone
 * @param configurations files beside those of the class path
 * @param places buckets to look at, and objects to read
 */
record Arguments(boolean json, boolean help, List<Path> configurations, List<URI> places) {
  static final String USAGE =
      """
      Usage: s3e doctor [--json] [--conf FILE]... [s3a://BUCKET[/KEY]]...
             java -cp BUNDLE.jar:CLASSPATH io.s3e.hadoop.doctor.Doctor [same arguments]
             hadoop jar BUNDLE.jar [same arguments]

      Says what is on the class path, whether S3E would read, by which client, with which memory and
      cache, and what is to be done. An object is read: its first 64 KiB.

        --conf FILE  settings beside those of the class path: a file of Hadoop's (*.xml), or one of
                     Spark's (spark-defaults.conf), of which spark.hadoop.* counts
        --json       one JSON document on standard output
        --help       this text

      Exit codes: 0 ready, 1 something is to be done, 2 wrong usage.
      """;

  private static final String CONF = "--conf";

  Arguments {
    configurations = List.copyOf(configurations);
    places = List.copyOf(places);
  }

  /**
   * @throws IllegalArgumentException naming the argument and what is accepted
   */
  static Arguments parse(List<String> texts) {
    boolean json = false;
    boolean help = false;
    List<Path> configurations = new ArrayList<>();
    List<URI> places = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      String text = texts.get(i);
      switch (text) {
        case "--json" -> json = true;
        case "--help", "-h" -> help = true;
        case CONF -> {
          i++;
          configurations.add(file(i < texts.size() ? texts.get(i) : ""));
        }
        default -> places.add(place(text));
      }
    }
    return new Arguments(json, help, configurations, places);
  }

  private static Path file(String text) {
    Path file = Path.of(text);
    if (text.isEmpty() || !Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new IllegalArgumentException(
          CONF + " \"" + text + "\": expected a file that can be read");
    }
    return file;
  }

  private static URI place(String text) {
    if (text.startsWith("-")) {
      throw new IllegalArgumentException(
          "unknown option " + text + ": expected --json, " + CONF + " FILE or --help");
    }
    if (!text.startsWith("s3a://")) {
      throw new IllegalArgumentException(
          "argument \"" + text + "\": expected s3a://BUCKET or s3a://BUCKET/KEY");
    }
    int sign = text.lastIndexOf('@');
    if (sign >= 0 && text.lastIndexOf(':', sign) > "s3a".length()) {
      // Not repeated: what stands before the sign is a secret.
      throw new IllegalArgumentException(
          "an argument has a colon and an @: expected s3a://BUCKET/KEY without credentials");
    }
    String rest = text.substring("s3a://".length());
    int slash = rest.indexOf('/');
    String bucket = slash < 0 ? rest : rest.substring(0, slash);
    String path = slash < 0 ? "/" : rest.substring(slash);
    try {
      URI place = new URI("s3a", bucket, path, null, null);
      if (place.getAuthority() == null) {
        throw new IllegalArgumentException("argument \"" + text + "\" names no bucket");
      }
      return place;
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "argument \"" + text + "\": expected s3a://BUCKET/KEY: " + e.getReason(), e);
    }
  }
}
