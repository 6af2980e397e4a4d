// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.bench.Progress;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Uploads one file or standard input. */
@Command(
    name = "put",
    description = {
      "Uploads a file by parallel parts.",
      "One no longer than a part goes by one PUT. The object appears only when it is whole; an"
          + " upload that fails or is interrupted is aborted."
    },
    footer = {
      "  s3e put data.parquet s3a://bucket/dir/",
      "  s3e put --force --parallel 32 --part-size 64m data.tar s3a://bucket/data.tar",
      "  tar c dir | s3e put - s3a://bucket/dir.tar"
    })
final class PutCommand extends StoreCommand {
  private static final String STANDARD_INPUT = "-";

  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description = "What to upload; - for standard input.")
  private String source = "";

  @Parameters(
      index = "1",
      paramLabel = "s3a://BUCKET/KEY",
      converter = ObjectUri.Converter.class,
      description =
          "The object; after a slash at the end comes the file's name. s3:// is the same.")
  @SuppressWarnings("NullAway.Init") // Required, so picocli sets it.
  private ObjectUri uri;

  @ArgGroup(exclusive = false, validate = false, order = 10, heading = "%nUpload:%n")
  private UploadOptions upload = new UploadOptions();

  @Override
  void run() throws IOException, InterruptedException {
    ObjectRef object = object();
    try (PartSource parts = open();
        SdkStore sdk =
            new SdkStore(
                store(),
                upload.parallel() + 1,
                upload.checksum().isLeftToSdk(store().endpoint() == null))) {
      TransferResult result = upload(parts, sdk, object);
      printResult(result, result.text());
    } catch (SdkException | IOException e) {
      for (Throwable beside : e.getSuppressed()) {
        if (beside instanceof UnabortedUploadException) {
          // The failure's own line says why the upload failed, and nothing of what it leaves.
          streams().err().println("s3e put: " + object + ": " + beside.getMessage());
        }
      }
      throw new TransferException(object, e);
    }
  }

  private ObjectRef object() {
    if (!uri.isFolder()) {
      return uri.object();
    }
    Path name = Path.of(source).getFileName();
    if (STANDARD_INPUT.equals(source) || name == null) {
      throw wrong(uri + " needs a name for what it shall hold");
    }
    return uri.child(name.toString());
  }

  /** Bytes to come; -1 if that only shows at their end. */
  private long size() throws IOException {
    Path file = Path.of(source);
    boolean known = !STANDARD_INPUT.equals(source) && Files.isRegularFile(file);
    return known ? Files.size(file) : -1;
  }

  private PartSource open() throws IOException {
    long size = size();
    int partBytes = upload.partBytes(size);
    Path file = Path.of(source);
    if (size >= 0) {
      return PartSource.of(file, size, partBytes);
    }
    requireHeap((upload.parallel() + 2L) * partBytes);
    if (STANDARD_INPUT.equals(source)) {
      return PartSource.of(streams().in(), partBytes);
    }
    if (Files.isDirectory(file)) {
      throw wrong(source + " is a directory");
    }
    if (!Files.exists(file)) {
      throw new NoSuchFileException(source, null, "no such file");
    }
    // A pipe or a device: its size says nothing.
    return PartSource.of(Files.newInputStream(file), partBytes);
  }

  private void requireHeap(long bytes) {
    long most = Runtime.getRuntime().maxMemory() / 4 * 3;
    if (bytes > most) {
      throw wrong(
          "--parallel and --part-size take "
              + ByteSize.format(bytes)
              + " of memory, there are "
              + ByteSize.format(most)
              + ": lower them or raise the heap, S3E_JAVA_OPTS=-Xmx...");
    }
  }

  private TransferResult upload(PartSource parts, SdkStore sdk, ObjectRef object)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    Upload.Existing existing =
        upload.force() ? Upload.Existing.REPLACED : requireAbsent(sdk.s3(), object);
    Upload.Target target =
        new Upload.Target(
            object,
            existing,
            upload.contentType(object),
            upload.metadata(),
            upload.storageClass(),
            upload.checksum());
    try (Progress.Bar bar = progress().bytes("put " + object.key(), size());
        Upload transfer = new Upload(sdk.s3(), target, upload.parallel(), bar::at)) {
      Upload.Stored stored = send(parts, transfer, sdk.s3(), object.bucket());
      long nanos = System.nanoTime() - start;
      return new TransferResult(
          "put",
          object.toString(),
          source,
          transfer.bytes(),
          TransferResult.seconds(nanos),
          TransferResult.megabytesPerSecond(transfer.bytes(), nanos),
          sdk.counter().requests(),
          sdk.counter().retries(),
          stored.etag(),
          stored.versionId());
    }
  }

  /**
   * Sends all. A store that refuses may close before it has the whole body, and its answer is lost
   * in the broken connection: for a bucket that is not there the question without a body gets it.
   *
   * @throws NoSuchBucketException if there is no such bucket
   */
  private static Upload.Stored send(PartSource parts, Upload transfer, S3Client s3, String bucket)
      throws IOException, InterruptedException {
    try {
      return transfer.send(parts);
    } catch (SdkClientException broken) {
      try {
        s3.headBucket(request -> request.bucket(bucket));
      } catch (NoSuchBucketException missing) {
        missing.addSuppressed(broken);
        throw missing;
      } catch (SdkException unknown) {
        broken.addSuppressed(unknown);
      }
      throw broken;
    }
  }

  /**
   * Looks before anything is sent, since not every store knows If-None-Match. A user that may write
   * but not read learns it from that header alone.
   *
   * @throws ObjectExistsException if the object exists
   */
  private static Upload.Existing requireAbsent(S3Client s3, ObjectRef object) throws IOException {
    try {
      s3.headObject(request -> request.bucket(object.bucket()).key(object.key()));
    } catch (S3Exception e) {
      return switch (e.statusCode()) {
        case 404 -> Upload.Existing.SEEN_ABSENT;
        case 403 -> Upload.Existing.UNKNOWN;
        default -> throw e;
      };
    }
    throw new ObjectExistsException();
  }
}
