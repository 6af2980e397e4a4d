// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StoredObjectTest {
  private static final int CHUNK = StoredObject.CHUNK_BYTES;

  private static StoredObject of(
      String store, String bucket, String key, String etag, @Nullable String version, long size) {
    return StoredObject.of(
        store, ObjectVersion.identified(new ObjectRef(bucket, key), size, etag, version));
  }

  @Test
  void everyPartOfTheIdentityTellsObjectsApart() {
    List<StoredObject> all =
        List.of(
            of("store", "bucket", "key", "etag", null, 10),
            of("stor2", "bucket", "key", "etag", null, 10),
            of("store", "bucke2", "key", "etag", null, 10),
            of("store", "bucket", "ke2", "etag", null, 10),
            of("store", "bucket", "key", "eta2", null, 10),
            of("store", "bucket", "key", "etag", "", 10),
            of("store", "bucket", "key", "etag", "null", 10),
            of("store", "bucket", "key", "etag", null, 11),
            // The same letters, cut elsewhere.
            of("storeb", "ucket", "key", "etag", null, 10),
            of("store", "bucketk", "ey", "etag", null, 10),
            of("store", "bucket", "keye", "tag", null, 10),
            of("store", "bucket", "key", "eta", "g", 10));

    Set<String> hashes = new HashSet<>();
    all.forEach(each -> hashes.add(each.toString()));

    assertThat(Set.copyOf(all)).hasSameSizeAs(all);
    assertThat(hashes).hasSameSizeAs(all);
  }

  /** Of numbers below 0 too, as hashes of paths are. */
  @Test
  void mixedWithANumberObjectsStayApart() {
    for (int number : new int[] {-2, -1, 0, 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      Set<Long> mixed = new HashSet<>();
      for (int key = 0; key < 100; key++) {
        mixed.add(of("store", "bucket", "key " + key, "etag", null, 10).mixedWith(number));
      }
      assertThat(mixed).as("objects mixed with %s", number).hasSize(100);
    }
  }

  /** The hash is a name in files that other processes read: it must not change by itself. */
  @Test
  void theHashIsTheFirst160BitsOfTheSha256OfTheIdentity() {
    ObjectVersion version =
        ObjectVersion.identified(new ObjectRef("b", "k\u00fc"), 0x0102030405L, "e", null);
    byte[] identity = {
      0,
      0,
      0,
      1,
      2,
      3,
      4,
      5, //
      0,
      0,
      0,
      1,
      's',
      0,
      0,
      0,
      1,
      'b',
      0,
      0,
      0,
      3,
      'k',
      (byte) 0xC3,
      (byte) 0xBC, //
      0,
      0,
      0,
      1,
      'e',
      -1,
      -1,
      -1,
      -1
    };
    assertThat(StoredObject.identity("s", version)).isEqualTo(identity);

    ByteBuffer hash = ByteBuffer.allocate(StoredObject.HASH_BYTES + 2);
    StoredObject.of("s", version).putHash(hash, 1);

    byte[] expected = StoredObject.hashOf(identity);
    assertThat(expected).hasSize(32);
    assertThat(hash.slice(1, StoredObject.HASH_BYTES))
        .isEqualTo(ByteBuffer.wrap(expected, 0, StoredObject.HASH_BYTES));
    assertThat(hash.get(0)).isZero();
    assertThat(hash.get(StoredObject.HASH_BYTES + 1)).isZero();
    assertThat(StoredObject.at(hash, 1, version.size())).isEqualTo(StoredObject.of("s", version));
  }

  @Test
  void theLastChunkIsAsLongAsWhatIsLeft() {
    for (long size : new long[] {1, CHUNK - 1, CHUNK, CHUNK + 1, 5L * CHUNK, 5L * CHUNK + 77}) {
      StoredObject object = StoredBytes.object("key", size);
      long sum = 0;
      for (int chunk = 0; chunk < object.chunks(); chunk++) {
        assertThat(object.chunkLength(chunk)).isBetween(1, CHUNK);
        sum += object.chunkLength(chunk);
      }
      assertThat(sum).isEqualTo(size);
      assertThat(ChunkRange.covering(object, 0, size).end()).isEqualTo(object.chunks());
      assertThat(ChunkRange.covering(object, 0, size).endOffset()).isEqualTo(size);
    }
  }

  @Test
  void whatHasNoNameOrNoBytesHasNoPlace() {
    ObjectRef ref = new ObjectRef("bucket", "key");
    long most = (long) Integer.MAX_VALUE * CHUNK;
    List<ObjectVersion> none =
        List.of(
            ObjectVersion.unidentified(ref, 10, null),
            ObjectVersion.identified(ref, 0, "etag", null),
            ObjectVersion.identified(ref, most + 1, "etag", null));
    for (ObjectVersion version : none) {
      assertThat(StoredObject.of("store", version)).isNull();
    }

    ObjectVersion longest = ObjectVersion.identified(ref, most, "etag", null);
    assertThat(StoredObject.of("store", longest).chunks()).isEqualTo(Integer.MAX_VALUE);
    assertThat(StoredObject.of("store", longest).chunkLength(Integer.MAX_VALUE - 1))
        .isEqualTo(CHUNK);
  }

  @Test
  void objectsAreEqualThatAreOfOneVersion() {
    StoredObject object = new StoredObject(1, 2, 3, 4);
    assertThat(object).isEqualTo(new StoredObject(1, 2, 3, 4));
    assertThat(object)
        .isNotEqualTo(new StoredObject(9, 2, 3, 4))
        .isNotEqualTo(new StoredObject(1, 9, 3, 4))
        .isNotEqualTo(new StoredObject(1, 2, 9, 4))
        .isNotEqualTo(new StoredObject(1, 2, 3, 9))
        .isNotEqualTo(null);
    assertThat(StoredBytes.object("key", 10))
        .isEqualTo(StoredBytes.object("key", 10))
        .isNotEqualTo(StoredBytes.object("key", 11));
  }
}
