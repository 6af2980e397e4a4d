// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/** Tells what the store says of an object. */
@Command(
    name = "stat",
    description = "Tells an object's size, version and metadata.",
    footer = {"  s3e stat s3a://bucket/key", "  s3e stat --json s3a://bucket/key | jq .size"})
final class StatCommand extends StoreCommand {

  @Parameters(
      paramLabel = "s3a://BUCKET/KEY",
      converter = ObjectUri.Converter.class,
      description = "The object; s3:// is the same.")
  @SuppressWarnings("NullAway.Init") // Required, so picocli sets it.
  private ObjectUri uri;

  @Option(names = "--version-id", paramLabel = "ID", description = "This version of the object.")
  private @Nullable String versionId;

  /**
   * The answer of the store. A part that it did not give is null.
   *
   * @param size in bytes
   * @param etag quotes included
   * @param storageClass S3 says nothing of the standard class
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record Facts(
      String uri,
      long size,
      @Nullable String etag,
      @Nullable String versionId,
      @Nullable String lastModified,
      String storageClass,
      @Nullable String contentType,
      @Nullable String contentEncoding,
      @Nullable String cacheControl,
      @Nullable String encryption,
      @Nullable String encryptionKey,
      @Nullable Integer parts,
      Map<String, String> metadata) {

    static Facts of(ObjectRef object, HeadObjectResponse head) {
      Instant modified = head.lastModified();
      String storageClass = head.storageClassAsString();
      String customer = head.sseCustomerAlgorithm();
      return new Facts(
          object.toString(),
          head.contentLength(),
          head.eTag(),
          head.versionId(),
          modified == null ? null : modified.toString(),
          storageClass == null ? "STANDARD" : storageClass,
          head.contentType(),
          head.contentEncoding(),
          head.cacheControl(),
          customer == null ? head.serverSideEncryptionAsString() : "SSE-C " + customer,
          head.ssekmsKeyId(),
          head.partsCount(),
          head.metadata());
    }

    /** A line for each fact, aligned. */
    String text() {
      Map<String, @Nullable Object> lines = new LinkedHashMap<>();
      lines.put("Object", uri);
      lines.put("Size", size + " (" + ByteSize.format(size) + ")");
      lines.put("ETag", etag);
      lines.put("Version", versionId);
      lines.put("Last modified", lastModified);
      lines.put("Storage class", storageClass);
      lines.put("Content type", contentType);
      lines.put("Content encoding", contentEncoding);
      lines.put("Cache control", cacheControl);
      lines.put("Encryption", encryption);
      lines.put("Encryption key", encryptionKey);
      metadata.forEach((name, value) -> lines.put("Metadata " + name, value));
      lines.values().removeIf(value -> value == null);
      int width = lines.keySet().stream().mapToInt(String::length).max().orElse(0) + 1;
      return lines.entrySet().stream()
          .map(line -> ("%-" + width + "s %s").formatted(line.getKey() + ":", line.getValue()))
          .collect(Collectors.joining(System.lineSeparator()));
    }
  }

  @Override
  void run() throws IOException {
    ObjectRef object = uri.object();
    try (SdkStore sdk = new SdkStore(store(), 1, true)) {
      HeadObjectResponse head =
          sdk.s3()
              .headObject(
                  request ->
                      request.bucket(object.bucket()).key(object.key()).versionId(versionId));
      if (head.contentLength() == null) {
        throw new IOException(object + ": answer without Content-Length");
      }
      Facts facts = Facts.of(object, head);
      printResult(facts, facts.text());
    } catch (SdkException e) {
      throw new TransferException(object, e);
    }
  }
}
