// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.install;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.AbstractFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The files of docs/install: each can be parsed, and every key and class in it exists. */
@Tag("source-tree")
class InstallFragmentsTest {
  private static final Path DOCS = Path.of("../docs");
  private static final Path FRAGMENTS = DOCS.resolve("install");
  private static final String BOTH_KEYS_FILE = "core-site.xml";

  /** Spark's own, which nothing on this class path knows. */
  private static final Set<String> KEYS_OF_SPARK =
      Set.of(
          "spark.plugins",
          "spark.driver.extraClassPath",
          "spark.executor.extraClassPath",
          "spark.executor.memory",
          "spark.executor.memoryOverhead",
          "spark.kubernetes.executor.volumes.emptyDir.spark-local-dir-1.mount.path",
          "spark.kubernetes.executor.volumes.emptyDir.spark-local-dir-1.options.sizeLimit");

  private static final Set<String> KEYS_OF_MAPREDUCE =
      Set.of(
          MRJobConfig.MAPREDUCE_APPLICATION_CLASSPATH,
          MRJobConfig.MAP_MEMORY_MB,
          MRJobConfig.MAP_JAVA_OPTS);

  private static List<Path> fragments(String extension) throws Exception {
    try (Stream<Path> files = Files.list(FRAGMENTS)) {
      return files.filter(file -> file.toString().endsWith(extension)).sorted().toList();
    }
  }

  private static Map<String, String> xml(Path file) {
    Configuration conf = new Configuration(false);
    conf.addResource(new org.apache.hadoop.fs.Path(file.toUri()));
    Map<String, String> settings = new HashMap<>();
    conf.forEach(entry -> settings.put(entry.getKey(), entry.getValue()));
    return settings;
  }

  private static Map<String, String> properties(Path file) throws Exception {
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      properties.load(in);
    }
    Map<String, String> settings = new HashMap<>();
    properties.forEach((key, value) -> settings.put(key.toString(), value.toString()));
    return settings;
  }

  @Test
  void hadoopsFiles() throws Exception {
    List<Path> files = fragments(".xml");
    assertThat(files).hasSizeGreaterThanOrEqualTo(4);
    for (Path file : files) {
      Map<String, String> settings = xml(file);
      assertThat(settings).as("%s", file).isNotEmpty();
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        assertKnown(file, setting.getKey(), setting.getValue());
      }
    }
    assertThat(xml(FRAGMENTS.resolve(BOTH_KEYS_FILE)).keySet())
        .containsExactlyInAnyOrder("fs.s3a.impl", "fs.AbstractFileSystem.s3a.impl");
  }

  @Test
  void sparksFiles() throws Exception {
    List<Path> files = fragments(".conf");
    assertThat(files).hasSizeGreaterThanOrEqualTo(2);
    for (Path file : files) {
      Map<String, String> settings = properties(file);
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        String key = setting.getKey();
        if (key.startsWith("spark.hadoop.")) {
          assertKnown(file, key.substring("spark.hadoop.".length()), setting.getValue());
        } else {
          assertThat(KEYS_OF_SPARK).as("%s", file).contains(key);
        }
      }
      assertThat(settings)
          .as("%s", file)
          .containsKeys("spark.hadoop.fs.s3a.impl", "spark.hadoop.fs.AbstractFileSystem.s3a.impl");
    }
  }

  @Test
  void emrsFile() throws Exception {
    Path file = FRAGMENTS.resolve("emr-configurations.json");
    JsonNode coreSite = new ObjectMapper().readTree(file.toFile()).get(0);
    assertThat(coreSite.get("Classification").textValue()).isEqualTo("core-site");
    JsonNode settings = coreSite.get("Properties");
    assertThat(settings.size()).isEqualTo(6);
    settings
        .fieldNames()
        .forEachRemaining(key -> assertKnown(file, key, settings.get(key).textValue()));
  }

  /** The page and the README lead to files that are there, and no file is left out. */
  @Test
  void thePageNamesEachFile() throws Exception {
    String page = Files.readString(DOCS.resolve("INSTALL.md"));
    Set<String> named =
        Pattern.compile("\\(install/([^)#]+)\\)")
            .matcher(page)
            .results()
            .map((MatchResult match) -> match.group(1))
            .collect(toSet());
    try (Stream<Path> files = Files.list(FRAGMENTS)) {
      assertThat(named)
          .isEqualTo(files.map(file -> file.getFileName().toString()).collect(toSet()));
    }
    assertThat(Files.readString(Path.of("../README.md"))).contains("(docs/INSTALL.md)");
  }

  private static void assertKnown(Path file, String key, String value) {
    if (key.matches("fs\\.(AbstractFileSystem\\.)?s3[an]?\\.impl")) {
      Class<?> base = key.contains("Abstract") ? AbstractFileSystem.class : FileSystem.class;
      assertThat(base.isAssignableFrom(new Configuration().getClassByNameOrNull(value)))
          .as("%s: %s", file, key)
          .isTrue();
      return;
    }
    String general = key.replaceFirst("^fs\\.s3a\\.bucket\\.[^.]+\\.", "fs.s3a.");
    String page =
        general.startsWith("fs.s3a.s3e.")
            ? "CONFIGURATION.md"
            : general.startsWith("fs.s3a.") ? "S3A-KEYS.md" : null;
    try {
      if (page != null) {
        assertThat(Files.readString(DOCS.resolve(page)))
            .as("%s", file)
            .contains("`" + general + "`");
      } else {
        assertThat(KEYS_OF_MAPREDUCE).as("%s", file).contains(key);
      }
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }
}
