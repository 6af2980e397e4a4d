// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.S3E;
import io.s3e.bench.Progress;
import io.s3e.block.ObjectRef;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;

/** Downloads one object. */
@Command(
    name = "get",
    description = {
      "Downloads an object by parallel ranged requests.",
      "A file appears under its name only when it is whole."
    },
    footer = {
      "  s3e get s3a://bucket/dir/data.parquet",
      "  s3e get --parallel 32 --part-size 16m s3a://bucket/key /mnt/nvme/",
      "  s3e get --range 0-1048575 s3a://bucket/key - | xxd | head",
      "  s3e get --discard --json s3a://bucket/key"
    })
final class GetCommand extends StoreCommand {
  private static final String STANDARD_OUTPUT = "-";

  @Parameters(
      index = "0",
      paramLabel = "s3a://BUCKET/KEY",
      converter = ObjectUri.Converter.class,
      description = "What to download; s3:// is the same.")
  @SuppressWarnings("NullAway.Init") // Required, so picocli sets it.
  private ObjectUri uri;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description =
          "A file, a directory, or - for standard output. Default: the key's last name, here.")
  private @Nullable String target;

  @ArgGroup(exclusive = false, validate = false, order = 10, heading = "%nDownload:%n")
  private ReadOptions read = new ReadOptions();

  @Option(names = "--force", description = "Replace a file that exists.")
  private boolean force;

  @Option(names = "--discard", description = "Write the bytes nowhere.")
  private boolean discard;

  @Override
  void run() throws IOException {
    ObjectRef object = uri.object();
    boolean standardOutput = STANDARD_OUTPUT.equals(target);
    if (discard && target != null) {
      throw wrong("--discard writes no file: leave " + target + " out");
    }
    if (standardOutput && output().json()) {
      throw wrong("--json needs a file or --discard: standard output carries the object");
    }
    TransferResult result;
    try (Destination destination = destination();
        S3E engine = read.engine(store(), streams().err())) {
      result = download(engine, object, destination);
    } catch (IOException | SdkException e) {
      throw new TransferException(object, e);
    }
    if (standardOutput) {
      streams().err().println(result.text());
    } else {
      printResult(result, result.text());
    }
  }

  private Destination destination() throws IOException {
    if (discard) {
      return Destination.nothing();
    }
    if (STANDARD_OUTPUT.equals(target)) {
      return Destination.standardOutput(streams());
    }
    Path file = Path.of(target == null ? "" : target);
    if (target != null && target.endsWith("/") && !Files.isDirectory(file)) {
      throw new NotDirectoryException(target);
    }
    if (target == null || Files.isDirectory(file)) {
      if (uri.isFolder()) {
        throw wrong(uri + " has no last name to call the file: name one");
      }
      file = file.resolve(uri.lastName());
    }
    return Destination.file(file, force);
  }

  private TransferResult download(S3E engine, ObjectRef object, Destination destination)
      throws IOException {
    long start = System.nanoTime();
    ReadOptions.Selection selection = read.select(engine, object);
    long bytes = selection.bytes().length();
    try (Progress.Bar bar = progress().bytes("get " + object.key(), bytes)) {
      engine.transfer(
          object,
          selection.open(),
          selection.bytes(),
          destination.channel(),
          (done, total) -> bar.at(done));
    }
    destination.commit();
    long nanos = System.nanoTime() - start;
    return new TransferResult(
        "get",
        object.toString(),
        destination.label(),
        bytes,
        TransferResult.seconds(nanos),
        TransferResult.megabytesPerSecond(bytes, nanos),
        engine.metrics().get(Counter.GETS) + selection.heads(),
        engine.metrics().get(Counter.RETRIES) + selection.heads() - 1,
        selection.head().etag(),
        selection.head().versionId());
  }
}
