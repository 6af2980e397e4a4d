// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.plain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.bench.data.ObjectSlice;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlainFileSystemTest {

  private static final URI BUCKET = URI.create("s3a://bucket/");
  private static final Path OBJECT = new Path("s3a://bucket/a/object");

  @TempDir private java.nio.file.Path temp;
  private final byte[] reference = new byte[350_000];
  private byte[] content;

  @BeforeEach
  void copy() throws Exception {
    new Random(11).nextBytes(reference);
    java.nio.file.Path file = Files.write(temp.resolve("reference"), reference);
    LocalCopies copies = new LocalCopies(temp.resolve("copies"));
    // Two slices of one object, as streams share it, the later one first.
    copies.add(
        List.of(
            new ObjectSlice(OBJECT.toString(), 100_000, 50_000, 7),
            new ObjectSlice(OBJECT.toString(), 0, 100_000, 200_000)),
        file);
    copies.add(List.of(ObjectSlice.front("s3a://bucket/other", 10)), file);
    content = Arrays.copyOfRange(reference, 200_000, 350_000);
    System.arraycopy(reference, 7, content, 100_000, 50_000);
  }

  private FileSystem open(PlainFileSystem.Way way) throws IOException {
    Configuration configuration = new Configuration();
    configuration.set("fs.s3a.impl", PlainFileSystem.class.getName());
    configuration.set(PlainFileSystem.DIRECTORY, temp.resolve("copies").toString());
    configuration.setEnum(PlainFileSystem.WAY, way);
    return FileSystem.newInstance(BUCKET, configuration);
  }

  @ParameterizedTest
  @EnumSource
  void objectsAreReadByTheirOwnNames(PlainFileSystem.Way way) throws Exception {
    try (FileSystem files = open(way);
        FSDataInputStream in = files.open(OBJECT)) {
      byte[] whole = new byte[content.length];
      in.readFully(whole);
      assertThat(whole).isEqualTo(content);
      assertThat(in.read()).isEqualTo(-1);

      in.seek(99_990);
      assertThat(in.getPos()).isEqualTo(99_990);
      assertThat(in.read()).isEqualTo(content[99_990] & 0xff);

      byte[] piece = new byte[1_000];
      in.readFully(99_500, piece, 0, piece.length);
      assertThat(piece).isEqualTo(Arrays.copyOfRange(content, 99_500, 100_500));
      assertThat(in.getPos()).as("positioned reads leave it").isEqualTo(99_991);

      FileRange range = FileRange.createFileRange(120_000, 2_000);
      in.readVectored(List.of(range), ByteBuffer::allocate);
      byte[] bytes = new byte[2_000];
      range.getData().get().get(bytes);
      assertThat(bytes).isEqualTo(Arrays.copyOfRange(content, 120_000, 122_000));
      assertThatThrownBy(() -> in.readFully(content.length - 10, new byte[20]))
          .isInstanceOf(EOFException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void statusesAreThoseOfTheCopies(PlainFileSystem.Way way) throws Exception {
    try (FileSystem files = open(way)) {
      assertThat(files.getFileStatus(OBJECT).getLen()).isEqualTo(content.length);
      assertThat(files.getFileStatus(OBJECT).getPath()).isEqualTo(OBJECT);
      assertThat(files.listStatus(new Path("s3a://bucket/")))
          .extracting(status -> status.getPath().toString())
          .containsExactly("s3a://bucket/a", "s3a://bucket/other");
      assertThatThrownBy(() -> files.open(new Path("s3a://bucket/nothing")))
          .isInstanceOf(FileNotFoundException.class);
      assertThatThrownBy(() -> files.create(OBJECT))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void withoutCopiesThereIsNothingToRead() {
    Configuration configuration = new Configuration();
    configuration.set("fs.s3a.impl", PlainFileSystem.class.getName());

    assertThatThrownBy(() -> FileSystem.newInstance(BUCKET, configuration))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(PlainFileSystem.DIRECTORY);
  }
}
