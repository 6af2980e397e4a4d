// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * A library that reads columnar files, in one version. The build has put its jars into a directory,
 * and those that go with each version into one of the format; a class loader of its own has them
 * before what is on the class path, and the reader of {@code src/readers} compiled against them.
 */
enum Library {
  PARQUET_1_13_1("parquet", "1.13.1", "ParquetReads", Codec.SNAPPY),
  PARQUET_1_15_2("parquet", "1.15.2", "ParquetReads", Codec.ZSTD),
  PARQUET_1_16_0("parquet", "1.16.0", "ParquetReads", Codec.ZLIB),
  PARQUET_1_17_1("parquet", "1.17.1", "ParquetReads", Codec.ZSTD),
  PARQUET_1_18_1("parquet", "1.18.1", "ParquetReads", Codec.SNAPPY),
  ORC_1_9_8("orc", "1.9.8", "OrcReads", Codec.ZLIB),
  ORC_2_2_2("orc", "2.2.2", "OrcReads", Codec.ZSTD),
  ORC_2_3_1("orc", "2.3.1", "OrcReads", Codec.ZLIB),
  ICEBERG_1_10_1("iceberg", "1.10.1", "IcebergReads", Codec.ZSTD),
  ICEBERG_1_12_0("iceberg", "1.12.0", "IcebergReads", Codec.SNAPPY);

  private static final Path JARS = Path.of(System.getProperty("s3e.test.readers"));
  private static final Path SOURCES = Path.of(System.getProperty("s3e.test.readers.sources"));

  private final String format;
  private final String version;
  private final String reader;
  private final Codec codec;

  Library(String format, String version, String reader, Codec codec) {
    this.format = format;
    this.version = version;
    this.reader = reader;
    this.codec = codec;
  }

  /** The codec of the files that a build reads by it. */
  Codec codec() {
    return codec;
  }

  /** Whether it reads what the other writes. */
  boolean reads(Library other) {
    return format.equals(other.format);
  }

  @Override
  public String toString() {
    return format + "-" + version;
  }

  /** The library, loaded. The loader ends with it. */
  Loaded load(Path directory) throws Exception {
    List<Path> jars = new ArrayList<>(jars(JARS.resolve(toString())));
    if (Files.isDirectory(JARS.resolve(format))) {
      jars.addAll(jars(JARS.resolve(format)));
    }
    Path classes = Files.createTempDirectory(directory, toString());
    compile(jars, classes);
    List<URL> urls = new ArrayList<>();
    urls.add(url(classes));
    for (Path jar : jars) {
      urls.add(url(jar));
    }
    OwnFirst loader = new OwnFirst(urls);
    Class<?> made = loader.loadClass("io.s3e.readers." + reader);
    return new Loaded(loader, (FormatReads) made.getConstructor().newInstance());
  }

  private static List<Path> jars(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  private void compile(List<Path> jars, Path classes) throws IOException {
    List<String> classPath = new ArrayList<>(jars.stream().map(Path::toString).toList());
    classPath.add(System.getProperty("java.class.path"));
    Path source = SOURCES.resolve(format).resolve("io/s3e/readers").resolve(reader + ".java");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assumeTrue(compiler != null, "this Java has no compiler: it is a runtime, and no JDK");
    int code =
        compiler.run(
            null,
            null,
            null,
            "--release",
            "17",
            "-proc:none",
            "-nowarn",
            "-cp",
            String.join(File.pathSeparator, classPath),
            "-d",
            classes.toString(),
            source.toString());
    if (code != 0) {
      throw new IOException(source + " does not compile against " + this + "; see above");
    }
  }

  private static URL url(Path path) throws MalformedURLException {
    return path.toUri().toURL();
  }

  /** A reader whose classes are in the thread's context loader while it is called. */
  static final class Loaded implements FormatReads, AutoCloseable {
    private final URLClassLoader loader;
    private final FormatReads reads;

    private Loaded(URLClassLoader loader, FormatReads reads) {
      this.loader = loader;
      this.reads = reads;
    }

    @Override
    public void write(Path file, Codec codec) throws Exception {
      inContext(
          () -> {
            reads.write(file, codec);
            return "";
          });
    }

    @Override
    public String read(
        Reading how, org.apache.hadoop.fs.Path file, org.apache.hadoop.conf.Configuration conf)
        throws Exception {
      return inContext(() -> reads.read(how, file, conf));
    }

    private String inContext(java.util.concurrent.Callable<String> call) throws Exception {
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(loader);
      try {
        return call.call();
      } finally {
        thread.setContextClassLoader(before);
      }
    }

    @Override
    public void close() throws IOException {
      loader.close();
    }
  }

  /** What its jars have comes from them; all else from the class path of the tests. */
  private static final class OwnFirst extends URLClassLoader {
    OwnFirst(List<URL> urls) {
      super(urls.toArray(URL[]::new), Library.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> found = findLoadedClass(name);
        if (found == null) {
          try {
            found = findClass(name);
          } catch (ClassNotFoundException e) {
            found = super.loadClass(name, resolve);
          }
        }
        if (resolve) {
          resolveClass(found);
        }
        return found;
      }
    }

    @Override
    public URL getResource(String name) {
      URL own = findResource(name);
      return own == null ? super.getResource(name) : own;
    }
  }
}
