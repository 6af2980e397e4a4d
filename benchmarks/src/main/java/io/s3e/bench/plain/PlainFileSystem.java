// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.plain;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Reads local copies of objects by the objects' own names: {@code s3a://bucket/a/b} is the file
 * {@code a/b} below the directory that {@value #DIRECTORY} names. For measurement only; nothing can
 * be written.
 */
public final class PlainFileSystem extends FileSystem {

  /** Key of the directory of the copies. */
  public static final String DIRECTORY = "s3e.bench.plain.directory";

  /** Key of the {@link Way}; that of a stream if it is not set. */
  public static final String WAY = "s3e.bench.plain.way";

  /** How files are read. */
  public enum Way {
    /** By {@link java.io.FileInputStream}: each call of the application is one of the kernel. */
    STREAM,
    /** By Hadoop's file system for {@code file://}. */
    HADOOP
  }

  private URI uri = URI.create("s3a:///");
  private java.nio.file.Path directory = java.nio.file.Path.of("");
  private Way way = Way.STREAM;
  private Path workingDirectory = new Path("/");

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    uri = URI.create(name.getScheme() + "://" + name.getAuthority());
    String root = conf.getTrimmed(DIRECTORY, "");
    if (root.isEmpty()) {
      throw new IOException(
          "There are no local copies of " + name + ": " + DIRECTORY + " is not set");
    }
    directory = java.nio.file.Path.of(root);
    way = conf.getEnum(WAY, Way.STREAM);
  }

  @Override
  public String getScheme() {
    return uri.getScheme();
  }

  @Override
  public URI getUri() {
    return uri;
  }

  private java.nio.file.Path local(Path path) {
    return LocalCopies.file(directory, makeQualified(path).toUri());
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    java.nio.file.Path file = local(path);
    return switch (way) {
      case STREAM -> new FSDataInputStream(new PlainInputStream(file));
      case HADOOP ->
          FileSystem.getLocal(getConf())
              .open(new Path(file.toAbsolutePath().toString()), bufferSize);
    };
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    java.io.File file = local(path).toFile();
    if (!file.exists()) {
      throw new FileNotFoundException("There is no local copy of " + path + " at " + file);
    }
    return new FileStatus(
        file.length(),
        file.isDirectory(),
        1,
        getDefaultBlockSize(path),
        file.lastModified(),
        makeQualified(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    String[] names = local(path).toFile().list();
    if (names == null) {
      return new FileStatus[] {getFileStatus(path)};
    }
    Arrays.sort(names);
    FileStatus[] statuses = new FileStatus[names.length];
    for (int i = 0; i < names.length; i++) {
      statuses[i] = getFileStatus(new Path(path, names[i]));
    }
    return statuses;
  }

  @Override
  public void setWorkingDirectory(Path path) {
    workingDirectory = path;
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory.makeQualified(uri, new Path("/"));
  }

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("Local copies are for reading only");
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress) {
    throw readOnly();
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw readOnly();
  }

  @Override
  public boolean rename(Path from, Path to) {
    throw readOnly();
  }

  @Override
  public boolean delete(Path path, boolean recursive) {
    throw readOnly();
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) {
    throw readOnly();
  }
}
