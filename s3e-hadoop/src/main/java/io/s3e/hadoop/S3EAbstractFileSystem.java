// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.hadoop.setup.Requirements;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@link S3EFileSystem} for programs that use FileContext: {@code
 * fs.AbstractFileSystem.s3a.impl=io.s3e.hadoop.S3EAbstractFileSystem}. FileContext knows no close;
 * S3A closes its file system when the object is collected, and so does this. Programs keep a stream
 * and drop the FileContext that opened it, so each stream keeps its file system until the stream is
 * collected itself. Iterators of listings do not, as S3A's do not.
 */
public class S3EAbstractFileSystem extends DelegateToFileSystem {
  private static final Logger LOG = LoggerFactory.getLogger(S3EAbstractFileSystem.class);
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int NO_PORT = -1;

  public S3EAbstractFileSystem(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(uri, checkedFileSystem(), conf, uri.getScheme(), false);
    CLEANER.register(this, closing(fsImpl));
  }

  /** Says what is missing before S3A is loaded, which does not load without the SDK. */
  private static FileSystem checkedFileSystem() throws IOException {
    Requirements unused = Requirements.check();
    return Maker.make();
  }

  /** Apart, so that the class around it can be loaded without S3A. */
  private static final class Maker {
    static FileSystem make() {
      return new S3EFileSystem();
    }
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return keptBy(super.open(path, bufferSize));
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return OpenedStreams.with(super.openFileWithOptions(path, parameters), this::keptBy);
  }

  @Override
  public FSDataOutputStream createInternal(
      Path path,
      EnumSet<CreateFlag> flags,
      FsPermission permission,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum,
      boolean createParent)
      throws IOException {
    FSDataOutputStream out =
        super.createInternal(
            path,
            flags,
            permission,
            bufferSize,
            replication,
            blockSize,
            progress,
            checksum,
            createParent);
    keepFor(out.getWrappedStream());
    return out;
  }

  private FSDataInputStream keptBy(FSDataInputStream in) {
    keepFor(in.getWrappedStream());
    return in;
  }

  /** What is to be told at a stream's end refers to the file system, which lives until then. */
  private void keepFor(Object stream) {
    CLEANER.register(stream, () -> LOG.trace("A stream of {} is gone", this));
  }

  @Override
  public int getUriDefaultPort() {
    return NO_PORT;
  }

  @Override
  public String toString() {
    return "S3EAbstractFileSystem{" + fsImpl + "}";
  }

  /** Refers to the file system only, so that the object that delegates to it can be collected. */
  private static Runnable closing(FileSystem fileSystem) {
    return () -> {
      try {
        fileSystem.close();
      } catch (IOException e) {
        LOG.warn("Closing {} failed", fileSystem.getUri(), e);
      }
    };
  }
}
