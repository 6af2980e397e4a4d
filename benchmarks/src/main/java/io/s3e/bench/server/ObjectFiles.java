// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * The files in which S3Proxy's file-system store keeps objects ({@code root/bucket/key}), opened
 * with the ETag that S3Proxy reports for them. Any thread.
 *
 * <p>The store replaces an object by moving a new file over the old one, so an open channel goes on
 * showing the version that it was opened at. ETag and file are matched by identity: the attributes
 * of the path are read before and after S3Proxy was asked and must be the same.
 */
final class ObjectFiles {

  /**
   * One version of one object, open for reading. The caller closes it.
   *
   * @param channel its bytes
   * @param length number of bytes
   * @param headers what answers say about it
   * @param memory its bytes again, shared by all requests that have this version open
   */
  record OpenObject(FileChannel channel, long length, Headers headers, MappedFile memory)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /**
   * The facts about an object in the head of an answer.
   *
   * @param etag entity tag, with its quotes
   */
  record Headers(
      String etag, Instant lastModified, String contentType, Map<String, String> userMetadata) {}

  /** Which file a path named when it was looked at. */
  private record FileIdentity(@Nullable Object fileKey, FileTime modified, long length) {
    static FileIdentity of(Path path) throws IOException {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      return new FileIdentity(
          attributes.fileKey(), attributes.lastModifiedTime(), attributes.size());
    }
  }

  private record Known(FileIdentity identity, Headers headers, MappedFile memory) {}

  private final Path root;
  private final BlobStore store;
  private final Map<Path, Known> known = new ConcurrentHashMap<>();

  ObjectFiles(Path root, BlobStore store) {
    this.root = root.toAbsolutePath().normalize();
    this.store = store;
  }

  /**
   * Opens the object that a path-style request names.
   *
   * @param rawPath {@code /bucket/key}, percent-encoded
   * @return the object, or null when no file could be matched with what S3Proxy says, which then
   *     answers for itself
   */
  @Nullable OpenObject open(String rawPath) throws IOException {
    String path = decode(rawPath);
    int slash = path.indexOf('/', 1);
    if (slash < 0 || slash + 1 == path.length() || path.endsWith("/")) {
      return null;
    }
    String bucket = path.substring(1, slash);
    String key = path.substring(slash + 1);
    Path file = resolve(bucket, key);
    if (file == null || !Files.isRegularFile(file)) {
      return null;
    }
    return open(file, bucket, key);
  }

  private @Nullable OpenObject open(Path file, String bucket, String key) throws IOException {
    FileChannel channel = null;
    OpenObject opened = null;
    try {
      FileIdentity before = FileIdentity.of(file);
      channel = FileChannel.open(file, StandardOpenOption.READ);
      Known version = version(file, before, bucket, key);
      if (version != null && before.equals(FileIdentity.of(file))) {
        opened = new OpenObject(channel, before.length(), version.headers(), version.memory());
      }
    } catch (NoSuchFileException replacedOrDeleted) {
      return null;
    } finally {
      if (opened == null && channel != null) {
        channel.close();
      }
    }
    return opened;
  }

  private @Nullable Known version(Path file, FileIdentity identity, String bucket, String key) {
    Known entry = known.get(file);
    if (entry != null && entry.identity().equals(identity)) {
      return entry;
    }
    HeadObjectResponse head;
    try {
      head = store.blobMetadataIfPresent(bucket, key);
    } catch (SdkException refused) {
      // S3Proxy gets the request itself and words the refusal.
      return null;
    }
    if (head == null
        || head.eTag() == null
        || head.contentLength() == null
        || head.contentLength() != identity.length()) {
      return null;
    }
    String etag = head.eTag().startsWith("\"") ? head.eTag() : '"' + head.eTag() + '"';
    String contentType =
        head.contentType() == null ? "application/octet-stream" : head.contentType();
    Headers headers =
        new Headers(
            etag,
            identity.modified().toInstant().truncatedTo(ChronoUnit.SECONDS),
            contentType,
            head.metadata());
    Known version = new Known(identity, headers, new MappedFile(identity.length()));
    known.put(file, version);
    return version;
  }

  private @Nullable Path resolve(String bucket, String key) {
    try {
      Path bucketPath = root.resolve(bucket).normalize();
      Path file = bucketPath.resolve(key).normalize();
      boolean inside =
          root.equals(bucketPath.getParent())
              && file.startsWith(bucketPath)
              && file.equals(root.resolve(bucket + '/' + key));
      return inside ? file : null;
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static String decode(String rawPath) {
    // A plus sign is itself in a path; only forms write a space so.
    return URLDecoder.decode(rawPath.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
