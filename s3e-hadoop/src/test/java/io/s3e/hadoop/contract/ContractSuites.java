// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Slow;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractContractContentSummaryTest;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractEtagTest;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractContractRootDirectoryTest;
import org.apache.hadoop.fs.contract.AbstractContractSeekTest;
import org.apache.hadoop.fs.contract.AbstractContractStreamIOStatisticsTest;
import org.apache.hadoop.fs.contract.AbstractContractUnbufferTest;
import org.apache.hadoop.fs.contract.AbstractContractVectoredReadTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.fs.contract.ContractTestUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Hadoop's own contract suites, for one way of plugging S3E in. They are JUnit 5 from Hadoop 3.5.0
 * on.
 */
@Slow
abstract class ContractSuites {
  /** The configuration of the file system under test; its bucket is {@link S3AServer#BUCKET}. */
  abstract Configuration configuration();

  private Configuration bonded() {
    Configuration conf = configuration();
    conf.set("fs.contract.test.fs.s3a", "s3a://" + S3AServer.BUCKET);
    return conf;
  }

  private static void close(FileSystem fileSystem) throws IOException {
    if (fileSystem != null) {
      fileSystem.close();
    }
  }

  @Nested
  class Open extends AbstractContractOpenTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }

    @Override
    protected boolean areZeroByteFilesEncrypted() {
      return true;
    }
  }

  @Nested
  class Seek extends AbstractContractSeekTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class Unbuffer extends AbstractContractUnbufferTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class StreamStatistics extends AbstractContractStreamIOStatisticsTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  @ExtendWith(SkipsWhatHadoopLacks.class)
  class Vectored extends AbstractContractVectoredReadTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }

    Vectored(String bufferType) {
      super(bufferType);
    }
  }

  @Nested
  class Create extends AbstractContractCreateTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class Delete extends AbstractContractDeleteTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class Rename extends AbstractContractRenameTest {
    @Override
    protected Configuration createConfiguration() {
      Configuration conf = bonded();
      // The server tells no ETag of a directory marker, and S3A copies nothing without one.
      conf.setBoolean("fs.s3a.change.detection.version.required", false);
      return conf;
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }

    /** S3A refuses where other file systems put the one below the other. */
    @Test
    @Override
    public void testRenameDirIntoExistingDir() throws Throwable {
      Path source = path("source");
      Path target = path("target");
      ContractTestUtils.touch(getFileSystem(), new Path(source, "moved"));
      ContractTestUtils.touch(getFileSystem(), new Path(target, "stays"));
      assertThat(rename(source, target)).isFalse();
      assertIsFile(new Path(source, "moved"));
      assertIsFile(new Path(target, "stays"));
    }
  }

  @Nested
  class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class ContentSummary extends AbstractContractContentSummaryTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }

  @Nested
  class RootDirectory extends AbstractContractRootDirectoryTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }

    /** S3A answers false where other file systems throw. */
    @Test
    @Override
    public void testRmNonEmptyRootDirNonRecursive() throws Throwable {
      Path file = path("file-below-root");
      ContractTestUtils.touch(getFileSystem(), file);
      assertThat(getFileSystem().delete(new Path("/"), false)).isFalse();
      assertIsFile(file);
    }
  }

  @Nested
  class Etag extends AbstractContractEtagTest {
    @Override
    protected Configuration createConfiguration() {
      return bonded();
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new S3EContract(conf);
    }

    @AfterEach
    @Override
    public void teardown() throws Exception {
      super.teardown();
      ContractSuites.close(getFileSystem());
    }
  }
}
