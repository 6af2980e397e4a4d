// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.RecordingProxy;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testing.Fault;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Seed;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.Slow;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * In all surroundings in which S3A reads, S3E reads the same bytes, and where S3A fails, S3E fails
 * by the same class of error: two JVMs beside each other that differ in {@code fs.s3a.impl} alone.
 * The file system tells which client S3E reads by, and one line of the log why it is not its own.
 *
 * <p>A run takes some rows, other ones each time ({@value Seed#PROPERTY} repeats one); {@value
 * #ALL} set to true takes every row.
 */
@Slow
@Tag("one-hadoop")
class EnvironmentTest {
  private static final String ALL = "s3e.test.environments";
  private static final int ROWS_OF_A_BUILD = 5;

  /** How much longer than S3A a program may take: a hang is longer, a busy machine is not. */
  private static final Duration SLACK = Duration.ofSeconds(20);

  private static final int LENGTH = 300_000;
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "surroundings");
  private static final String ONLY_BY_PROXY = "store.invalid";

  /** A claim about S3E beyond being no worse than S3A. */
  @FunctionalInterface
  private interface Check {
    void of(Outcome s3e, Outcome s3a);
  }

  /** Two programs in the same surroundings, and what is asked of them. */
  private static final class Row {
    private final URI endpoint;
    private final List<String> settings = new ArrayList<>();
    private final List<Consumer<ForkedJvm.Launch>> surroundings = new ArrayList<>();

    Row(URI endpoint) {
      this.endpoint = endpoint;
    }

    Row set(String key, Object value) {
      settings.add(key + "=" + value);
      return this;
    }

    Row option(String option) {
      return in(launch -> launch.options(option));
    }

    Row in(Consumer<ForkedJvm.Launch> change) {
      surroundings.add(change);
      return this;
    }

    Row trusting() {
      return option("-Djavax.net.ssl.trustStore=" + trustStore)
          .option("-Djavax.net.ssl.trustStorePassword=" + SelfSigned.PASSWORD);
    }

    /** The same bytes, or the same class of error, in about the same time; then the check. */
    void holds(Check check) throws Exception {
      List<Outcome> both = run();
      Outcome s3e = both.get(0);
      Outcome s3a = both.get(1);
      check.of(s3e, s3a);
      if (s3a.isContent(content())) {
        assertThat(s3e.result()).as("%s", s3e).isEqualTo(s3a.result());
      } else {
        assertThat(s3e.errorClass()).as("%s beside %s", s3e, s3a).isEqualTo(s3a.errorClass());
      }
      assertThat(s3e.time()).isLessThan(s3a.time().plus(SLACK));
    }

    /** By S3E and by S3A, at once. */
    private List<Outcome> run() throws Exception {
      long start = System.nanoTime();
      try (ForkedJvm s3e = start(S3EFileSystem.class);
          ForkedJvm s3a = start(S3AFileSystem.class)) {
        return List.of(Outcome.of(s3e, start), Outcome.of(s3a, start));
      }
    }

    private ForkedJvm start(Class<? extends FileSystem> type) throws Exception {
      ForkedJvm.Launch launch =
          ForkedJvm.of(EnvironmentReader.class.getName())
              .unverified()
              .options("-Xmx512m", "-Djava.io.tmpdir=" + directory)
              .in(directory);
      surroundings.forEach(change -> change.accept(launch));
      List<String> arguments = new ArrayList<>();
      arguments.addAll(
          List.of(endpoint.toString(), OBJECT.bucket(), OBJECT.key(), Integer.toString(LENGTH)));
      arguments.add("fs.s3a.impl=" + type.getName());
      arguments.addAll(settings);
      return launch.start(arguments.toArray(String[]::new));
    }
  }

  @TempDir private static Path directory;

  private static HostileS3Server tls;
  private static HostileS3Server plain;
  private static RecordingProxy proxy;
  private static SelfSigned certificate;
  private static Path trustStore;

  @BeforeAll
  static void start() throws Exception {
    certificate = SelfSigned.create(directory);
    trustStore = certificate.trustStore(directory.resolve("trust.p12"));
    tls = HostileS3Server.startTls(certificate.serverContext());
    plain = HostileS3Server.start();
    proxy = new RecordingProxy(S3AServer.endpoint());
    tls.put(OBJECT, content());
    plain.put(OBJECT, content());
    URI bucket = URI.create("s3a://" + OBJECT.bucket());
    try (FileSystem fileSystem =
            FileSystem.newInstance(bucket, S3AServer.s3a(S3AServer.endpoint()));
        OutputStream out = fileSystem.create(new org.apache.hadoop.fs.Path("/" + OBJECT.key()))) {
      out.write(content());
    }
  }

  @AfterAll
  static void stop() throws Exception {
    tls.close();
    plain.close();
    proxy.close();
  }

  private static byte[] content() {
    byte[] content = new byte[LENGTH];
    new Random(20261122).nextBytes(content);
    return content;
  }

  @TestFactory
  Stream<DynamicTest> readsWhereverS3AReads() {
    List<DynamicTest> rows =
        new ArrayList<>(
            List.of(
                DynamicTest.dynamicTest("TLS, trust store", this::trustStoreOfTheJvm),
                DynamicTest.dynamicTest("TLS, store of the JDK", this::storeOfTheJdk),
                DynamicTest.dynamicTest("TLS, no store of the system", this::noStoreOfTheSystem),
                DynamicTest.dynamicTest("TLS, untrusted", this::untrusted),
                DynamicTest.dynamicTest("TLS, CA file is missing", this::caFileIsMissing),
                DynamicTest.dynamicTest("TLS, crt, CA file is missing", this::crtWithoutItsCaFile),
                DynamicTest.dynamicTest("proxy by properties", this::proxyByProperties),
                DynamicTest.dynamicTest("proxy by environment", this::proxyByEnvironment),
                DynamicTest.dynamicTest("proxy by keys", this::proxyByKeys),
                DynamicTest.dynamicTest("proxy with exceptions", this::proxyWithExceptions),
                DynamicTest.dynamicTest("region: 301", () -> wrongRegion(301, "PermanentRedirect")),
                DynamicTest.dynamicTest(
                    "region: 400", () -> wrongRegion(400, "AuthorizationHeaderMalformed")),
                DynamicTest.dynamicTest("no credentials", this::noCredentials),
                DynamicTest.dynamicTest("no temporary directory", this::noTemporaryDirectory),
                DynamicTest.dynamicTest("no room for the library", this::noRoomForTheLibrary),
                DynamicTest.dynamicTest("no direct memory", this::noDirectMemory)));
    // The Java that asks before native libraries are loaded, and that tells of sun.misc.Unsafe.
    if (Runtime.version().feature() >= 24) {
      rows.add(DynamicTest.dynamicTest("no native access", this::noNativeAccess));
      rows.add(DynamicTest.dynamicTest("no memory by Unsafe", this::noMemoryByUnsafe));
    }
    if (!Boolean.getBoolean(ALL)) {
      long seed = Seed.draw();
      Collections.shuffle(rows, new Random(seed));
      rows = rows.subList(0, ROWS_OF_A_BUILD);
    }
    return rows.stream();
  }

  private void trustStoreOfTheJvm() throws Exception {
    new Row(tls.endpoint()).trusting().holds((s3e, s3a) -> s3e.readsByItsOwn(content()));
  }

  private void storeOfTheJdk() throws Exception {
    try (JdkCopy jdk = JdkCopy.trusting(certificate, directory.resolve("jdk"))) {
      new Row(tls.endpoint())
          .in(launch -> launch.javaHome(jdk.home()))
          .holds((s3e, s3a) -> s3e.readsByItsOwn(content()));
    }
  }

  private void noStoreOfTheSystem() throws Exception {
    List<String> hide =
        List.of("unshare", "-m", "sh", "-c", "mount -t tmpfs none /etc/ssl && exec \"$@\"", "sh");
    assumeTrue(
        ForkedJvm.isAllowed(hide), "/etc/ssl can be hidden, which takes root's rights and Linux");
    new Row(tls.endpoint())
        .trusting()
        .in(launch -> launch.through(hide.toArray(String[]::new)))
        .holds((s3e, s3a) -> s3e.readsByItsOwn(content()));
  }

  private void untrusted() throws Exception {
    new Row(tls.endpoint())
        .holds(
            (s3e, s3a) -> {
              assertThat(s3a.result()).startsWith(EnvironmentReader.ERROR).contains("SSL");
              assertThat(s3e.result()).contains("SSL");
              assertThat(s3e.fallbacks()).isZero();
            });
  }

  private void caFileIsMissing() throws Exception {
    Path missing = directory.resolve("missing.pem");
    new Row(tls.endpoint())
        .trusting()
        .set("fs.s3a.s3e.tls.ca.file", missing)
        .holds((s3e, s3a) -> s3e.readsByS3As(content(), "WARN", missing.toString(), 1));
  }

  /** A client that was asked for by name has no other behind it. */
  private void crtWithoutItsCaFile() throws Exception {
    Path missing = directory.resolve("missing.pem");
    Outcome s3e =
        new Row(tls.endpoint())
            .trusting()
            .set("fs.s3a.s3e.tls.ca.file", missing)
            .set("fs.s3a.s3e.client", "crt")
            .run()
            .get(0);
    assertThat(s3e.result()).startsWith(EnvironmentReader.ERROR).contains(missing.toString());
    assertThat(s3e.fallbacks()).isZero();
  }

  private void proxyByProperties() throws Exception {
    throughProxy(
        "http.proxyHost is ",
        row ->
            row.option("-Dhttp.proxyHost=" + proxy.endpoint().getHost())
                .option("-Dhttp.proxyPort=" + proxy.endpoint().getPort()));
  }

  private void proxyByEnvironment() throws Exception {
    throughProxy(
        "HTTP_PROXY is ",
        row ->
            row.in(
                launch -> {
                  launch.environment("HTTP_PROXY", proxy.endpoint().toString());
                  launch.environment("http_proxy", proxy.endpoint().toString());
                }));
  }

  private void proxyByKeys() throws Exception {
    throughProxy(
        "fs.s3a.proxy.host is ",
        row ->
            row.set("fs.s3a.proxy.host", proxy.endpoint().getHost())
                .set("fs.s3a.proxy.port", proxy.endpoint().getPort()));
  }

  /** The store's name is known to the proxy only, so that no request can go around it. */
  private static void throughProxy(String reason, Consumer<Row> leading) throws Exception {
    Row row = new Row(URI.create("http://" + ONLY_BY_PROXY));
    leading.accept(row);
    row.holds((s3e, s3a) -> s3e.readsByS3As(content(), "INFO", reason, 0));
  }

  private void proxyWithExceptions() throws Exception {
    int before = proxy.requests().size();
    new Row(S3AServer.endpoint())
        .option("-Dhttp.proxyHost=" + proxy.endpoint().getHost())
        .option("-Dhttp.proxyPort=" + proxy.endpoint().getPort())
        .option("-Dhttp.nonProxyHosts=127.*|localhost")
        .holds((s3e, s3a) -> s3e.readsByItsOwn(content()));
    assertThat(proxy.requests()).hasSize(before);
  }

  /** To a set endpoint S3A stays: it follows a bucket to its region only where AWS is asked. */
  private void wrongRegion(int status, String code) throws Exception {
    plain.decide(
        request ->
            Fault.status(status, code).and(Fault.header("x-amz-bucket-region", "eu-west-1")));
    try {
      new Row(plain.endpoint())
          .holds(
              (s3e, s3a) -> {
                assertThat(s3a.result()).startsWith(EnvironmentReader.ERROR);
                assertThat(s3e.fallbacks()).isZero();
              });
    } finally {
      plain.heal();
    }
  }

  private void noCredentials() throws Exception {
    new Row(S3AServer.endpoint())
        .set("fs.s3a.access.key", "")
        .set("fs.s3a.secret.key", "")
        .set(
            "fs.s3a.aws.credentials.provider",
            "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider")
        .holds(
            (s3e, s3a) -> {
              assertThat(s3a.result()).startsWith(EnvironmentReader.ERROR);
              assertThat(s3e.fallbacks()).isZero();
            });
  }

  /** Where S3E's own client cannot unpack its native library, and where it may be told to. */
  private void noTemporaryDirectory() throws Exception {
    Path file = Files.write(directory.resolve("no-directory"), new byte[0]);
    String to = "-Daws.crt.lib.dir=";
    new Row(S3AServer.endpoint())
        .option(to + file)
        .option("-Djava.io.tmpdir=" + file)
        .set("fs.s3a.buffer.dir", directory)
        .holds(
            (s3e, s3a) -> {
              s3e.readsByS3As(content(), "WARN", file + " takes no file", 1);
              assertThat(s3e.logged(to)).hasSize(1);
              assertThat(s3e.logged("\tat ")).isEmpty();
            });
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory);
    new Row(S3AServer.endpoint())
        .option(to + link)
        .option("-Djava.io.tmpdir=" + file)
        .set("fs.s3a.buffer.dir", directory)
        .holds((s3e, s3a) -> s3e.readsByItsOwn(content()));
  }

  /** Mounts that only root can make: full, not executable, not writable. */
  private void noRoomForTheLibrary() throws Exception {
    Path mount = Files.createDirectories(directory.resolve("mount"));
    for (String options : List.of("size=64k", "noexec", "ro")) {
      List<String> over =
          List.of(
              "unshare",
              "-m",
              "sh",
              "-c",
              "mount -t tmpfs -o " + options + " none " + mount + " && exec \"$@\"",
              "sh");
      assumeTrue(
          ForkedJvm.isAllowed(over), "tmpfs can be mounted, which takes root's rights and Linux");
      new Row(S3AServer.endpoint())
          .in(launch -> launch.through(over.toArray(String[]::new)))
          .option("-Djava.io.tmpdir=" + mount)
          .set("fs.s3a.buffer.dir", directory)
          .holds(
              (s3e, s3a) -> {
                s3e.readsByS3As(content(), "WARN", mount.toString(), 1);
                assertThat(s3e.logged("\tat ")).as("%s", s3e).isEmpty();
              });
    }
  }

  private void noNativeAccess() throws Exception {
    new Row(S3AServer.endpoint())
        .option("--illegal-native-access=deny")
        .holds(
            (s3e, s3a) -> {
              s3e.readsByS3As(content(), "WARN", "--enable-native-access=ALL-UNNAMED", 1);
              assertThat(s3e.logged("\tat ")).as("%s", s3e).isEmpty();
            });
  }

  private void noMemoryByUnsafe() throws Exception {
    new Row(S3AServer.endpoint())
        .option("--sun-misc-unsafe-memory-access=deny")
        .option("--enable-native-access=ALL-UNNAMED")
        .holds(
            (s3e, s3a) -> {
              s3e.readsByItsOwn(content());
              assertThat(s3e.logged("WARN")).as("%s", s3e).hasSameSizeAs(s3a.logged("WARN"));
            });
  }

  private void noDirectMemory() throws Exception {
    new Row(S3AServer.endpoint())
        .option("-XX:MaxDirectMemorySize=64m")
        .set(EnvironmentReader.DIRECT_BYTES_LEFT, 1 << 20)
        .holds(
            (s3e, s3a) -> {
              assertThat(s3e.isContent(content())).as("%s", s3e).isTrue();
              // The CRT's buffers and the engine's, each told once.
              List<String> told = s3e.logged("-XX:MaxDirectMemorySize");
              assertThat(told).hasSizeBetween(1, 2).allMatch(line -> line.contains("WARN"));
              assertThat(told).doesNotHaveDuplicates();
            });
  }
}
