// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * A program that uses S3E in class loaders of its own, one after the other, and drops them; it
 * prints what is left of them. Arguments: the bundle jar, the endpoint, bucket, key, length, the
 * two secrets, and the {@link Use}.
 */
public final class DroppedLoaders {
  /** What is done in a loader before it is closed. */
  enum Use {
    /** A file is read; nobody has used Hadoop before. */
    READ,
    /** A file is read by a thread whose context the loader is; Hadoop is in use. */
    READ_IN_CONTEXT,
    /** A file is read by a plain S3AFileSystem with S3E's streams. */
    READ_BY_FACTORY,
    /** A file system is made and closed, while S3E begins. */
    OPENED,
    /** A file is opened, which S3E prepares for, and its file system closed. */
    ASKED,
    /** A file system is made and not closed, while S3E begins. */
    LEFT
  }

  private static final int LOADERS = 6;
  private static final long PAUSE_MILLIS = 100;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final URL bundle;
  private final Configuration conf = new Configuration();
  private final URI file;
  private final int length;
  private final Use use;

  private DroppedLoaders(String[] args) throws IOException {
    bundle = Path.of(args[0]).toUri().toURL();
    conf.set("fs.s3a.endpoint", args[1]);
    conf.set("fs.s3a.endpoint.region", "us-east-1");
    file = URI.create("s3a://" + args[2] + "/" + args[3]);
    length = Integer.parseInt(args[4]);
    conf.set("fs.s3a.access.key", args[5]);
    conf.set("fs.s3a.secret.key", args[6]);
    conf.setBoolean("fs.s3a.path.style.access", true);
    use = Use.valueOf(args[7]);
    // Else Hadoop says at the end that it cannot close those that are left.
    conf.setBoolean("fs.automatic.close", use != Use.LEFT);
  }

  public static void main(String[] args) throws Exception {
    DroppedLoaders program = new DroppedLoaders(args);
    List<WeakReference<ClassLoader>> dropped = new ArrayList<>();
    ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();
    if (program.use == Use.READ_IN_CONTEXT) {
      FileSystem.newInstance(program.file, program.conf).close();
    }
    for (int i = 0; i < LOADERS; i++) {
      dropped.add(new WeakReference<>(program.useOne(), collected));
    }
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (program.use != Use.LEFT
        && (left(dropped) > 0 || !threads().isEmpty())
        && System.nanoTime() - deadline < 0) {
      System.gc();
      // Not by Eventually: its classes are not on the class path of this program.
      Reference<?> unused = collected.remove(PAUSE_MILLIS);
    }
    System.out.println("LOADERS " + left(dropped));
    System.out.println("THREADS " + threads());
    System.out.println("LIBRARIES " + libraries());
    System.out.println(
        "BEANS "
            + ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("io.s3e:*"), null));
    System.out.println("END");
  }

  /** A loader of its own, used and closed. */
  private ClassLoader useOne() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader =
        new URLClassLoader("dropped", new URL[] {bundle}, DroppedLoaders.class.getClassLoader())) {
      if (use == Use.READ_IN_CONTEXT) {
        thread.setContextClassLoader(loader);
      }
      Configuration own = new Configuration(conf);
      own.setClassLoader(loader);
      if (use == Use.READ_BY_FACTORY) {
        own.set("fs.s3a.classloader.isolation", "false");
        own.set("fs.s3a.input.stream.type", "custom");
        own.set("fs.s3a.input.stream.custom.factory", "io.s3e.hadoop.S3EStreamFactory");
      } else {
        own.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
      }
      use(FileSystem.newInstance(file, own));
      return loader;
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private void use(FileSystem fs) throws IOException {
    if (use == Use.LEFT) {
      return;
    }
    try (fs) {
      switch (use) {
        case ASKED -> fs.open(new org.apache.hadoop.fs.Path(file)).close();
        case READ, READ_IN_CONTEXT, READ_BY_FACTORY ->
            System.out.println("READ " + (length - wrongBytes(fs)));
        default -> {}
      }
    }
  }

  private int wrongBytes(FileSystem fs) throws IOException {
    byte[] bytes = new byte[length];
    try (InputStream in = fs.open(new org.apache.hadoop.fs.Path(file))) {
      in.readNBytes(bytes, 0, length);
    }
    int wrong = 0;
    for (int i = 0; i < length; i++) {
      wrong += bytes[i] == (byte) (i % 251) ? 0 : 1;
    }
    return wrong;
  }

  private static long left(List<WeakReference<ClassLoader>> dropped) {
    return dropped.stream().filter(loader -> loader.get() != null).count();
  }

  /** Those of S3E, and any that would load classes of a dropped loader. */
  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread ->
                thread.getName().startsWith("s3e")
                    || thread.getContextClassLoader() instanceof URLClassLoader)
        .map(Thread::getName)
        .sorted()
        .toList();
  }

  /** How many native libraries of aws-crt are mapped; 0 where the system does not tell. */
  private static long libraries() throws IOException {
    Path maps = Path.of("/proc/self/maps");
    if (!Files.exists(maps)) {
      return 0;
    }
    try (Stream<String> lines = Files.lines(maps)) {
      return lines
          .filter(line -> line.contains("libaws-crt-jni"))
          .map(line -> line.substring(line.indexOf('/')))
          .distinct()
          .count();
    }
  }
}
