// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.conf.S3AKey.Meaning;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The table of S3A's keys beside the Hadoop that runs. */
class S3AKeysTest {
  private static final String PREFIX = "fs.s3a.";

  /** Names of path capabilities and not of settings. */
  private static final String CAPABILITIES = "fs.s3a.capability.";

  /** The one prefix among Hadoop's constants that does not end with a dot. */
  private static final String MAGIC = "fs.s3a.committer.magic";

  private static List<S3AKey> keys() {
    return S3AKeys.ALL.stream().flatMap(subject -> subject.keys().stream()).toList();
  }

  private static List<String> names() {
    return keys().stream().flatMap(key -> key.names().stream()).toList();
  }

  /** Values that begin with fs.s3a. of all static String fields of hadoop-aws, by their value. */
  private static Map<String, String> constants() throws Exception {
    Map<String, String> found = new TreeMap<>();
    Path jar = Path.of(Constants.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (JarFile classes = new JarFile(jar.toFile())) {
      for (String entry : classes.stream().map(each -> each.getName()).toList()) {
        if (entry.startsWith("org/apache/hadoop/fs/s3a/") && entry.endsWith(".class")) {
          String name = entry.substring(0, entry.length() - ".class".length()).replace('/', '.');
          for (Field field : fields(name)) {
            if (field.getType() == String.class && Modifier.isStatic(field.getModifiers())) {
              field.setAccessible(true);
              if (field.get(null) instanceof String value && value.startsWith(PREFIX)) {
                found.put(value, name + "." + field.getName());
              }
            }
          }
        }
      }
    }
    return found;
  }

  /** Classes of optional libraries cannot be looked at without these; none of them has keys. */
  private static Field[] fields(String className) {
    try {
      return Class.forName(className, false, Constants.class.getClassLoader()).getDeclaredFields();
    } catch (ClassNotFoundException | NoClassDefFoundError e) {
      assertThat(className).doesNotContain("Constants");
      return new Field[0];
    }
  }

  private static boolean isSetting(String value) {
    return !value.startsWith(CAPABILITIES)
        && !value.equals(MAGIC)
        && names().stream().noneMatch(name -> value.endsWith(".") && name.startsWith(value));
  }

  /** Patterns of Hadoop's as the table writes them. */
  private static String asInTable(String value) {
    return value.replaceFirst("%s", "NAME").replace("%s", "*");
  }

  private static boolean isIn(Collection<String> names, String value) {
    return names.contains(value) || names.contains(value + ".*");
  }

  @Test
  void noKeyOfTheRunningHadoopIsMissing() throws Exception {
    Map<String, String> constants = constants();
    assertThat(constants).hasSizeGreaterThan(150).containsKey("fs.s3a.endpoint");
    List<String> missing =
        constants.entrySet().stream()
            .filter(each -> isSetting(each.getKey()))
            .filter(each -> !isIn(names(), asInTable(each.getKey())))
            .map(Object::toString)
            .toList();
    assertThat(missing).as("add these to S3AKeys or S3AOtherKeys").isEmpty();
  }

  @Test
  void noKeyOfCoreDefaultIsMissing() {
    List<String> documented = new ArrayList<>();
    new Configuration()
        .forEach(
            entry -> {
              if (entry.getKey().startsWith(PREFIX)) {
                documented.add(entry.getKey());
              }
            });
    assertThat(documented).contains("fs.s3a.retry.limit");
    assertThat(names()).containsAll(documented);
  }

  /** Hadoop writes some keys in its code only. */
  @Tag("hadoop-3.5")
  @Test
  void theTableHasNoKeyThatHadoopHasNot() throws Exception {
    Set<String> known =
        Stream.concat(
                constants().keySet().stream().map(S3AKeysTest::asInTable),
                Stream.of("fs.s3a.impl", "fs.s3a.impl.disable.cache"))
            .map(value -> value.endsWith(".") ? value + "*" : value)
            .collect(Collectors.toSet());
    assertThat(names())
        .allSatisfy(name -> assertThat(known).containsAnyOf(name, name.replace(".*", "")));
  }

  @Test
  void everyKeyStandsOnceWithAReason() {
    assertThat(names()).doesNotHaveDuplicates().allMatch(name -> name.startsWith(PREFIX));
    assertThat(keys())
        .allSatisfy(
            key -> {
              assertThat(key.names()).isNotEmpty();
              assertThat(key.text()).endsWith(".").hasSizeGreaterThan(10).doesNotContain("|");
            });
  }

  @Test
  void everyKeyThatIsMappedIsTheDefaultOfAKeyOfS3E() {
    Map<Boolean, List<S3AKey>> mapped =
        keys().stream().collect(Collectors.partitioningBy(key -> key.meaning() == Meaning.MAPPED));
    assertThat(mapped.get(true)).allSatisfy(key -> assertThat(key.ofS3E()).isNotEmpty());
    assertThat(mapped.get(true).stream().flatMap(key -> key.names().stream()))
        .containsExactlyInAnyOrderElementsOf(
            S3EKeys.ALL.stream()
                .map(ConfigKey::fromS3A)
                .filter(from -> from != null)
                .flatMap(from -> from.keys().stream())
                .collect(Collectors.toSet()));
  }
}
