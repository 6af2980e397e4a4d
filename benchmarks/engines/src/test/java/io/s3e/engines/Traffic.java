// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.util.List;
import java.util.function.Predicate;

/** Requests as the server saw them, in the order in which they ended. */
public record Traffic(List<Request> requests) {

  /**
   * One request.
   *
   * @param operation as S3 names it, for example {@code GET_OBJECT}
   * @param path bucket and key
   * @param range the Range header; empty when there was none
   * @param agent the User-Agent header; empty when there was none
   * @param status status of the answer
   * @param sent bytes of the answer's body
   */
  public record Request(
      String operation, String path, String range, String agent, int status, long sent) {

    public boolean isGet() {
      return operation.equals("GET_OBJECT");
    }

    /** Whether S3E's own client has sent it. */
    public boolean isByS3E() {
      return agent.contains("S3E");
    }
  }

  private long count(Predicate<Request> which) {
    return requests.stream().filter(which).count();
  }

  public long gets() {
    return count(Request::isGet);
  }

  public long getsByS3E() {
    return count(each -> each.isGet() && each.isByS3E());
  }

  public long heads() {
    return count(each -> each.operation().equals("HEAD_OBJECT"));
  }

  /** Bytes of the bodies of all object GETs. */
  public long bytesSent() {
    return requests.stream().filter(Request::isGet).mapToLong(Request::sent).sum();
  }

  /** The lengths of what GETs brought, smallest first. */
  public List<Long> getSizes() {
    return requests.stream().filter(Request::isGet).map(Request::sent).sorted().toList();
  }
}
