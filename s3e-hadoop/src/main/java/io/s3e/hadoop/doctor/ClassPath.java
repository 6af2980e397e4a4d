// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.setup.Requirements;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The libraries that a class loader finds, in the order in which it finds them: the first copy of
 * each is the one that is used. Loads no class. Immutable.
 */
final class ClassPath {
  static final String UNKNOWN = "unknown version";

  private static final Pattern VERSION_IN_NAME = Pattern.compile("-(\\d[^/]*)\\.jar/?$");

  /**
   * A jar or directory that holds a library.
   *
   * @param place for a message
   */
  record Copy(String version, String place) {}

  private final Map<Library, List<Copy>> copies = new EnumMap<>(Library.class);

  ClassPath(ClassLoader loader) {
    for (Library library : Library.values()) {
      copies.put(library, copiesIn(loader, library));
    }
  }

  /** In the order of the class path; empty if it is not there. */
  List<Copy> copies(Library library) {
    return copies.getOrDefault(library, List.of());
  }

  boolean has(Library library) {
    return !copies(library).isEmpty();
  }

  /** Whether all parts of the SDK that S3A links against are there. */
  boolean hasSdk() {
    return isHadoop33()
        ? has(Library.SDK_1)
        : Arrays.stream(Library.values()).allMatch(library -> !library.isOfSdk2() || has(library));
  }

  /** Whether the SDK of its S3A is version 1. */
  boolean isHadoop33() {
    return has(Library.HADOOP) && Requirements.isHadoop33(copies(Library.HADOOP).get(0).version());
  }

  private static List<Copy> copiesIn(ClassLoader loader, Library library) {
    List<Copy> found = new ArrayList<>();
    try {
      for (URL marker : Collections.list(loader.getResources(library.marker))) {
        String address = marker.toString();
        String root = address.substring(0, address.length() - library.marker.length());
        Copy copy = new Copy(version(root, library.versionFile), place(root));
        if (!found.contains(copy)) {
          found.add(copy);
        }
      }
    } catch (IOException e) {
      // A class path that cannot be listed has no copies to show; what lacks is told as lacking.
      return found;
    }
    return found;
  }

  /** By the library's own file, else by the manifest, else by the jar's name. */
  private static String version(String root, String versionFile) {
    try (InputStream in = open(root + versionFile)) {
      Properties properties = new Properties();
      properties.load(in);
      String version = properties.getProperty("version", "");
      if (!version.isEmpty()) {
        return version;
      }
    } catch (IOException e) {
      // The next source.
    }
    Matcher name = VERSION_IN_NAME.matcher(place(root));
    if (name.find()) {
      return name.group(1);
    }
    try (InputStream in = open(root + "META-INF/MANIFEST.MF")) {
      String version =
          new Manifest(in).getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      return version == null ? UNKNOWN : version;
    } catch (IOException e) {
      // Told by the answer.
      return UNKNOWN;
    }
  }

  /** Without the JVM's cache of open jars, which would hold files open. */
  private static InputStream open(String address) throws IOException {
    var connection = new URL(address).openConnection();
    connection.setUseCaches(false);
    return connection.getInputStream();
  }

  private static String place(String root) {
    String file =
        root.startsWith("jar:") && root.endsWith("!/")
            ? root.substring("jar:".length(), root.length() - "!/".length())
            : root;
    try {
      URI uri = URI.create(file);
      return "file".equals(uri.getScheme()) ? uri.getPath() : file;
    } catch (IllegalArgumentException e) {
      return file;
    }
  }
}
