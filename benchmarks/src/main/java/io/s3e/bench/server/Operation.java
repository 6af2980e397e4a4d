// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/** The S3 operations that the request log tells apart, named as S3 names them. */
public enum Operation {
  GET_OBJECT,
  HEAD_OBJECT,
  LIST_OBJECTS,
  PUT_OBJECT,
  COPY_OBJECT,
  UPLOAD_PART,
  CREATE_MULTIPART_UPLOAD,
  COMPLETE_MULTIPART_UPLOAD,
  ABORT_MULTIPART_UPLOAD,
  DELETE_OBJECT,
  DELETE_OBJECTS,
  HEAD_BUCKET,
  CREATE_BUCKET,
  DELETE_BUCKET,
  LIST_BUCKETS,
  OTHER;

  /** The operation that a path-style request asks for. */
  static Operation of(HttpHead request) {
    Set<String> parameters = parameterNames(request.rawQuery());
    String path = request.rawPath();
    int slash = path.indexOf('/', 1);
    boolean service = path.length() <= 1;
    boolean object = slash > 0 && slash + 1 < path.length();
    return switch (request.method()) {
      case "GET" -> service ? LIST_BUCKETS : object ? objectGet(parameters) : bucketGet(parameters);
      case "HEAD" -> object ? HEAD_OBJECT : HEAD_BUCKET;
      case "PUT" -> object ? objectPut(request, parameters) : bucketOnly(CREATE_BUCKET, parameters);
      case "POST" -> post(parameters);
      case "DELETE" -> object ? objectDelete(parameters) : bucketOnly(DELETE_BUCKET, parameters);
      default -> OTHER;
    };
  }

  private static Operation objectGet(Set<String> parameters) {
    return parameters.isEmpty() || parameters.equals(Set.of("x-id")) ? GET_OBJECT : OTHER;
  }

  private static Operation bucketGet(Set<String> parameters) {
    Set<String> listing =
        Set.of(
            "list-type",
            "prefix",
            "delimiter",
            "max-keys",
            "marker",
            "continuation-token",
            "start-after",
            "fetch-owner",
            "encoding-type",
            "x-id");
    return listing.containsAll(parameters) ? LIST_OBJECTS : OTHER;
  }

  private static Operation objectPut(HttpHead request, Set<String> parameters) {
    if (parameters.contains("uploadId")) {
      return UPLOAD_PART;
    }
    if (request.has("x-amz-copy-source")) {
      return COPY_OBJECT;
    }
    return parameters.isEmpty() || parameters.equals(Set.of("x-id")) ? PUT_OBJECT : OTHER;
  }

  private static Operation objectDelete(Set<String> parameters) {
    return parameters.contains("uploadId") ? ABORT_MULTIPART_UPLOAD : DELETE_OBJECT;
  }

  private static Operation bucketOnly(Operation operation, Set<String> parameters) {
    return parameters.isEmpty() ? operation : OTHER;
  }

  private static Operation post(Set<String> parameters) {
    if (parameters.contains("uploads")) {
      return CREATE_MULTIPART_UPLOAD;
    }
    if (parameters.contains("uploadId")) {
      return COMPLETE_MULTIPART_UPLOAD;
    }
    return parameters.contains("delete") ? DELETE_OBJECTS : OTHER;
  }

  private static Set<String> parameterNames(String rawQuery) {
    return Arrays.stream(rawQuery.split("&", -1))
        .filter(parameter -> !parameter.isEmpty())
        .map(parameter -> parameter.split("=", 2)[0])
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Whether it only reads: these answers are shaped, the others are not. */
  boolean isRead() {
    return switch (this) {
      case GET_OBJECT, HEAD_OBJECT, LIST_OBJECTS, HEAD_BUCKET, LIST_BUCKETS -> true;
      default -> false;
    };
  }
}
