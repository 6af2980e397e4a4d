package io.s3e.cli;

import io.s3e.bench.Progress;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
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
  private @Nullable ObjectUri uri;

  @ArgGroup(exclusive = false, validate = false, order = 10, heading = "%nUpload:%n")
  private UploadOptions upload = new UploadOptions();

  /** How to upload. */
  static final class UploadOptions {
    private static final int MAX_PARALLEL = 256;
    private static final long MIN_PART = 5L << 20;
    private static final long MAX_PART = 1L << 30;
    private static final long MEBIBYTE = 1L << 20;

    @Option(names = "--force", description = "Replace an object that exists.")
    private boolean force;

    @Option(names = "--parallel", paramLabel = "N", description = "Parts under way; default 16.")
    private int parallel = 16;

    @Option(
        names = "--part-size",
        paramLabel = "SIZE",
        converter = ByteSize.Converter.class,
        description =
            "5m to 1g; default 8m, or what makes 10,000 parts of a file. Standard input takes"
                + " memory for N + 2 parts.")
    private @Nullable Long partSize;

    @Option(
        names = "--checksum",
        paramLabel = "KIND",
        description =
            "auto, none, crc32, crc32c, sha1 or sha256. Default auto: the SDK's for AWS, none for"
                + " an --endpoint.")
    private Checksum checksum = Checksum.AUTO;

    @Option(
        names = "--content-type",
        paramLabel = "TYPE",
        description = "Default: by the ending of the key.")
    private @Nullable String contentType;

    @Option(
        names = "--metadata",
        paramLabel = "NAME=VALUE",
        description = "The user's metadata. Repeatable.")
    private Map<String, String> metadata = Map.of();

    @Option(
        names = "--storage-class",
        paramLabel = "CLASS",
        description = "For example GLACIER_IR.")
    private @Nullable String storageClass;

    /**
     * @param size of the source; -1 if unknown
     */
    int partBytes(long size) {
      if (parallel < 1 || parallel > MAX_PARALLEL) {
        throw new IllegalArgumentException("--parallel is " + parallel + "; accepted is 1 to 256");
      }
      long given = partSize == null ? 8 * MEBIBYTE : partSize;
      if (given < MIN_PART || given > MAX_PART) {
        throw new IllegalArgumentException("--part-size is " + given + "; accepted is 5m to 1g");
      }
      long least = (Math.max(0, size) + PartSource.MAX_PARTS - 1) / PartSource.MAX_PARTS;
      return (int)
          Math.min(MAX_PART, Math.max(given, (least + MEBIBYTE - 1) / MEBIBYTE * MEBIBYTE));
    }

    /** A type by the ending of the key, unless one was given. */
    String contentType(ObjectRef object) {
      if (contentType != null) {
        return contentType;
      }
      String guess = URLConnection.guessContentTypeFromName(object.key());
      return guess == null ? "application/octet-stream" : guess;
    }
  }

  @Override
  void run() throws IOException, InterruptedException {
    ObjectRef object = object();
    try (PartSource parts = open();
        SdkStore sdk =
            new SdkStore(
                store(),
                upload.parallel + 1,
                upload.checksum.isLeftToSdk(store().endpoint() == null))) {
      TransferResult result = upload(parts, sdk, object);
      printResult(result, result.text());
    } catch (SdkException | IOException e) {
      throw new TransferException(object, e);
    }
  }

  private ObjectRef object() {
    ObjectUri destination = uri == null ? ObjectUri.parse("") : uri;
    if (!destination.isFolder()) {
      return destination.object();
    }
    Path name = Path.of(source).getFileName();
    if (STANDARD_INPUT.equals(source) || name == null) {
      throw wrong(destination + " needs a name for what it shall hold");
    }
    return destination.child(name.toString());
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
    requireHeap((upload.parallel + 2L) * partBytes);
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
    if (!upload.force) {
      requireAbsent(sdk.s3(), object);
    }
    Upload.Target target =
        new Upload.Target(
            object,
            upload.force,
            upload.contentType(object),
            upload.metadata,
            upload.storageClass,
            upload.checksum);
    try (Progress.Bar bar = progress().bytes("put " + object.key(), size());
        Upload transfer = new Upload(sdk.s3(), target, upload.parallel, bar::at)) {
      Upload.Stored stored = transfer.send(parts);
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
   * Looks before anything is sent, since not every store knows If-None-Match. Who may write but not
   * read is told by that alone.
   */
  private static void requireAbsent(S3Client s3, ObjectRef object) throws IOException {
    try {
      s3.headObject(request -> request.bucket(object.bucket()).key(object.key()));
    } catch (S3Exception e) {
      if (e.statusCode() == 404 || e.statusCode() == 403) {
        return;
      }
      throw e;
    }
    throw new ObjectExistsException();
  }
}
