// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.library.CrtUnusableException;
import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** What is said where aws-crt is not on the classpath. */
class WithoutCrtTest {

  @Test
  void askingForTheCrtSaysWhyItCannotBe() throws Exception {
    assertThat(inLoaderWithoutCrt(Demand.class.getName()))
        .contains("aws-crt is not on the class path")
        .contains("A client of the AWS SDK can be given instead");
  }

  /** The error of {@link AwsClients#crt}. Runs in a class loader of its own. */
  public static final class Demand implements Callable<String> {
    @Override
    public String call() {
      AwsClientSettings settings =
          AwsClientSettings.builder()
              .endpoint(URI.create("http://127.0.0.1:1"))
              .region("us-east-1")
              .anonymous(true)
              .build();
      ClientMemory memory = new ClientMemory(32 << 20, 1 << 20, 1 << 16);
      try (ObjectClient client = AwsClients.crt(settings).create(memory)) {
        return client.name();
      } catch (CrtUnusableException e) {
        return e.getMessage();
      }
    }
  }

  private static String inLoaderWithoutCrt(String callable) throws Exception {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<URL> urls = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator)) {
      if (!new File(entry).getName().startsWith("aws-crt-")) {
        urls.add(new File(entry).toURI().toURL());
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Class<?> type = loader.loadClass(callable);
      return (String) ((Callable<?>) type.getConstructor().newInstance()).call();
    }
  }
}
