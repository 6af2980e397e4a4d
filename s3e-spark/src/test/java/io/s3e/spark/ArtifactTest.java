// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** What a user gets by the coordinates of a line: its jar and its POM. */
@Tag("smoke")
class ArtifactTest {
  @Test
  void theJarHoldsThePluginAndAllOfTheBundleOnce() throws Exception {
    try (JarFile jar = new JarFile(System.getProperty("s3e.test.jar"))) {
      List<String> names = jar.stream().map(entry -> entry.getName()).toList();
      assertThat(names)
          .contains(
              "io/s3e/spark/S3EPlugin.class",
              "io/s3e/hadoop/S3EFileSystem.class",
              "io/s3e/S3E.class",
              "io/s3e/version/version.properties",
              "s3e-crt/software/amazon/awssdk/crt/CRT.class",
              "META-INF/LICENSE",
              "META-INF/LICENSE-AWS-LC",
              "META-INF/NOTICE")
          .anyMatch(name -> name.startsWith("s3e-crt/linux/x86_64/"))
          .noneMatch(name -> name.startsWith("software/") || name.startsWith("org/apache/"));
      Set<String> once = new HashSet<>();
      assertThat(names).allMatch(name -> name.endsWith("/") || once.add(name));
      assertThat(jar.getManifest().getMainAttributes().getValue("Implementation-Version"))
          .isEqualTo(System.getProperty("s3e.test.version"));
    }
  }

  @Test
  void thePomBringsS3AAndTheSdkOfTheLineAndNothingElse() throws Exception {
    Document pom;
    try (var in = Files.newInputStream(Path.of(System.getProperty("s3e.test.pom")))) {
      pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in);
    }
    XPath path = XPathFactory.newInstance().newXPath();
    assertThat(
            ((NodeList) path.evaluate("/project/parent", pom, XPathConstants.NODESET)).getLength())
        .isZero();
    NodeList dependencies =
        (NodeList)
            path.evaluate(
                "/project/dependencies/dependency[scope='compile' or scope='runtime' or"
                    + " not(scope)]",
                pom,
                XPathConstants.NODESET);
    List<String> brought = new ArrayList<>();
    for (int i = 0; i < dependencies.getLength(); i++) {
      String artifact = path.evaluate("artifactId", dependencies.item(i));
      String version = path.evaluate("version", dependencies.item(i));
      brought.add(artifact);
      if (artifact.equals("hadoop-aws")) {
        assertThat(version).isEqualTo(System.getProperty("s3e.test.hadoop.version"));
        assertThat(path.evaluate("exclusions/exclusion/artifactId", dependencies.item(i)))
            .isEqualTo("bundle");
      } else if (artifact.equals("s3")) {
        assertThat(version).isEqualTo(System.getProperty("s3e.test.sdk.version"));
      }
      assertThat(version).as(artifact).matches("\\d+\\.\\d+\\.\\d+");
    }
    if (System.getProperty("s3e.test.hadoop.version").startsWith("3.3.")) {
      assertThat(brought)
          .containsExactlyInAnyOrder(
              "hadoop-aws", "aws-java-sdk-s3", "aws-java-sdk-sts", "aws-java-sdk-dynamodb");
      return;
    }
    assertThat(brought)
        .containsExactlyInAnyOrder(
            "hadoop-aws",
            "s3",
            "s3-transfer-manager",
            "sts",
            "aws-json-protocol",
            "sso",
            "ssooidc",
            "apache-client",
            "netty-nio-client");
  }
}
