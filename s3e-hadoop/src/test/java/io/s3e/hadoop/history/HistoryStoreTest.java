// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.history.JobFacts.Run;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class HistoryStoreTest {
  @TempDir Path directory;
  private HistoryStore store;

  @BeforeEach
  void makeStore() {
    store = new HistoryStore(new org.apache.hadoop.fs.Path(directory.toUri()), new Configuration());
  }

  private static JobFacts run(String job, int number) {
    Run run = new Run("r" + number, "p", number, JobFactsTest.tasks(1, 1), Blocked.NONE);
    TableFacts table = new TableFacts("b/t" + number, number, 100, List.of(), List.of());
    return new JobFacts(job, "", List.of(run), List.of(table));
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(file -> file.getFileName().toString().endsWith(".json")).toList();
    }
  }

  @Test
  void whatIsAddedIsRead() throws Exception {
    assertThat(store.read("nightly 5").facts()).isEqualTo(JobFacts.none("nightly #"));
    store.add(run("nightly #", 1));
    store.add(run("nightly #", 2));
    store.add(run("other", 3));
    JobFacts both = store.read("Nightly 2026-11-26").facts();
    assertThat(both.runs()).extracting(Run::id).containsExactly("r1", "r2");
    assertThat(both.tables()).extracting(TableFacts::place).containsExactly("b/t1", "b/t2");
    assertThat(files()).as("one a job").hasSize(2);
  }

  /** Names of tables and columns are not everybody's, as Spark's event logs are not. */
  @Test
  void whatIsWrittenIsForItsUserAndGroup() throws Exception {
    store.add(run("nightly #", 1));
    Path file = files().get(0);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .matches("rw-.{3}---");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
        .matches("rwx.{3}---");
  }

  /** A store whose writers may not delete. */
  public static final class KeepingFileSystem extends LocalFileSystem {
    @Override
    public boolean delete(org.apache.hadoop.fs.Path path, boolean recursive) throws IOException {
      throw new IOException("not allowed to delete " + path.getName());
    }
  }

  @Test
  void filesThatCannotBeDeletedAreTold() throws Exception {
    store.add(run("nightly #", 1));
    Configuration conf = new Configuration();
    conf.setClass("fs.file.impl", KeepingFileSystem.class, FileSystem.class);
    conf.setBoolean("fs.file.impl.disable.cache", true);
    HistoryStore.Found found =
        new HistoryStore(new org.apache.hadoop.fs.Path(directory.toUri()), conf)
            .add(run("nightly #", 2));

    assertThat(found.facts().runs()).extracting(Run::id).containsExactly("r1", "r2");
    assertThat(found.problem()).contains("cannot be deleted", "not allowed to delete");
    assertThat(store.read("nightly 7").facts().runs()).hasSize(2);
  }

  @Test
  void jobIsForgottenByItself() throws Exception {
    store.add(run("nightly #", 1));
    store.add(run("other", 2));
    assertThat(store.clear("nightly 7")).isTrue();
    assertThat(store.clear("nightly 7")).isFalse();
    assertThat(store.read("nightly 7").facts().runs()).isEmpty();
    assertThat(store.read("other").facts().runs()).hasSize(1);
  }

  /** Without a lock, none of them overwrites what another one has told. */
  @Test
  void writersAtOnceLoseNothing() throws Exception {
    int writers = 6;
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    CountDownLatch begin = new CountDownLatch(1);
    List<Future<?>> done = new ArrayList<>();
    for (int i = 0; i < writers; i++) {
      int number = i;
      done.add(
          threads.submit(
              () -> {
                begin.await();
                return store.add(run("j", number));
              }));
    }
    begin.countDown();
    for (Future<?> each : done) {
      each.get();
    }
    threads.shutdown();
    assertThat(store.read("j").facts().runs()).hasSize(writers);
    store.add(run("j", writers));
    assertThat(store.read("j").facts().runs()).hasSize(writers + 1);
    assertThat(files()).hasSize(1);
  }

  @Test
  void filesThatCannotBeReadAreLeftAlone() throws Exception {
    store.add(run("j", 1));
    Path whole = files().get(0);
    Path damaged = whole.resolveSibling("history-damaged.json");
    Path future = whole.resolveSibling("history-future.json");
    String text = Files.readString(whole);
    Files.writeString(damaged, text.substring(0, text.length() / 2));
    Files.writeString(future, text.replace("\"format\":1", "\"format\":9"));
    Files.writeString(whole.resolveSibling("history-long.json"), " ".repeat(2 << 20));
    HistoryStore.Found found = store.find("j");
    assertThat(found.facts().runs()).hasSize(1);
    assertThat(found.problem()).isNotNull();
    store.add(run("j", 2));
    assertThat(damaged).exists();
    assertThat(future).exists();
    assertThat(whole).doesNotExist();
    assertThat(store.read("j").facts().runs()).hasSize(2);
  }

  /** With and without a slash at its end, also where that is the root of the bucket. */
  @Test
  void historiesAreKnownAndNoTablesBesideThem() throws Exception {
    store.add(run("nightly #", 1));
    String key = directory.relativize(files().get(0)).toString().replace('\\', '/');
    for (String root : List.of("s3a://data", "s3a://data/", "s3a://data/a/b", "s3a://data/a/b/")) {
      HistoryStore there =
          new HistoryStore(new org.apache.hadoop.fs.Path(root), new Configuration(false));
      String prefix = root.contains("/a/b") ? "a/b/" : "";
      assertThat(there.contains(new ObjectRef("data", prefix + key))).as(root).isTrue();
      assertThat(there.contains(new ObjectRef("other", prefix + key))).as(root).isFalse();
      for (String other : List.of("t/part-0.parquet", "history-1.json", "t/u/history-1.json")) {
        assertThat(there.contains(new ObjectRef("data", prefix + other)))
            .as("%s in %s", other, root)
            .isFalse();
      }
    }
    HistoryStore below =
        new HistoryStore(new org.apache.hadoop.fs.Path("s3a://data/a"), new Configuration(false));
    assertThat(below.contains(new ObjectRef("data", "ab/" + key))).isFalse();
  }

  /** The classes of the package, but for the one that makes bytes of facts. */
  private static final class WithoutHistoryFile extends ClassLoader {
    WithoutHistoryFile() {
      super(HistoryStore.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(HistoryStore.class.getPackageName() + ".")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (in == null || name.equals(HistoryFile.class.getName())) {
          throw new ClassNotFoundException(name);
        }
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  /** Each later JVM would warn of a file that is empty. */
  @Test
  void factsThatCannotBeWrittenLeaveNoFile() throws Exception {
    ClassLoader loader = new WithoutHistoryFile();
    Class<?> ofFacts = loader.loadClass(JobFacts.class.getName());
    Method none = ofFacts.getDeclaredMethod("none", String.class);
    none.setAccessible(true);
    Class<?> ofStore = loader.loadClass(HistoryStore.class.getName());
    Object other =
        ofStore
            .getConstructor(org.apache.hadoop.fs.Path.class, Configuration.class)
            .newInstance(
                new org.apache.hadoop.fs.Path(directory.toUri()), new Configuration(false));
    Method add = ofStore.getDeclaredMethod("add", ofFacts);
    add.setAccessible(true);
    Object facts = none.invoke(null, "j");
    assertThatThrownBy(() -> add.invoke(other, facts))
        .hasCauseInstanceOf(NoClassDefFoundError.class)
        .hasStackTraceContaining("HistoryFile");
    try (Stream<Path> all = Files.walk(directory)) {
      assertThat(all.filter(Files::isRegularFile)).isEmpty();
    }
  }

  @Test
  void directoryThatCannotBeWrittenIsAnError() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "x", UTF_8);
    HistoryStore unwritable =
        new HistoryStore(new org.apache.hadoop.fs.Path(file.toUri()), new Configuration());
    assertThatThrownBy(() -> unwritable.add(run("j", 1))).isInstanceOf(IOException.class);
  }

  @Test
  @Slow
  void directoryMayBeOnS3() throws Exception {
    Configuration conf = S3AServer.s3e(S3AServer.endpoint());
    conf.set("fs.s3a.s3e.history", "on");
    HistoryStore onS3 =
        new HistoryStore(
            new org.apache.hadoop.fs.Path("s3a://" + S3AServer.BUCKET + "/histories"), conf);
    onS3.add(run("j", 1));
    onS3.add(run("j", 2));
    assertThat(onS3.read("j").facts().runs()).hasSize(2);
    assertThat(onS3.clear("j")).isTrue();
    assertThat(onS3.read("j").facts().runs()).isEmpty();
  }
}
