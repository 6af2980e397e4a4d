// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import io.s3e.stream.S3EInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;

/** Writes objects to standard output, one after the other. */
@Command(
    name = "cat",
    description = {
      "Writes objects to standard output, one after the other.",
      "Reads them through the stream that Hadoop gets: what is fetched ahead grows as it is read."
    },
    footer = {
      "  s3e cat s3a://bucket/part-0 s3a://bucket/part-1 > whole",
      "  s3e cat --range -1k s3a://bucket/data.parquet | xxd"
    })
final class CatCommand extends StoreCommand {
  private static final int BUFFER_BYTES = 1 << 20;

  @Parameters(
      arity = "1..*",
      paramLabel = "s3a://BUCKET/KEY",
      converter = ObjectUri.Converter.class,
      description = "What to write; s3:// is the same.")
  private List<ObjectUri> uris = List.of();

  @ArgGroup(exclusive = false, validate = false, order = 10, heading = "%nRead:%n")
  private ReadOptions read = new ReadOptions();

  @Override
  void run() throws IOException {
    if (output().json()) {
      throw wrong("--json has no place: standard output carries the objects");
    }
    List<ObjectRef> objects = uris.stream().map(ObjectUri::object).toList();
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    ObjectRef current = objects.get(0);
    try (S3E engine = read.engine(store(), streams().err());
        WritableByteChannel out = streams().dataOut()) {
      for (ObjectRef object : objects) {
        current = object;
        copy(engine, object, buffer, out);
      }
    } catch (IOException | SdkException e) {
      throw new TransferException(current, e);
    }
  }

  private void copy(S3E engine, ObjectRef object, ByteBuffer buffer, WritableByteChannel out)
      throws IOException {
    ReadOptions.Selection selection = read.select(engine, object);
    try (S3EInputStream in = engine.open(object, selection.open())) {
      in.seek(selection.bytes().start());
      for (long left = selection.bytes().length(); left > 0; ) {
        buffer.clear().limit((int) Math.min(buffer.capacity(), left));
        int count = in.read(buffer);
        if (count < 0) {
          throw new EOFException(in + " ends " + left + " bytes early");
        }
        left -= count;
        buffer.flip();
        while (buffer.hasRemaining()) {
          out.write(buffer);
        }
      }
    }
  }
}
