// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/**
 * What {@link HostileS3Server} does wrong in one answer: a change to the reply it would give
 * otherwise. Faults combine by {@link #and}.
 */
@FunctionalInterface
public interface Fault {

  /** Changes the honest reply. */
  void shape(HostileReply reply);

  /** This fault, then the other on top. */
  default Fault and(Fault other) {
    return reply -> {
      shape(reply);
      other.shape(reply);
    };
  }

  /** The honest answer. */
  static Fault none() {
    return reply -> {};
  }

  /** An error with S3's XML document. */
  static Fault status(int status, String code) {
    return reply -> reply.error(status, code, "scripted " + code);
  }

  /** An error with S3's XML document or without a body, and with any headers. */
  static Fault refusal(int status, Map<String, String> headers, String document) {
    return reply -> {
      reply.refuse(status, document);
      headers.forEach(reply::header);
    };
  }

  /** S3's error document, with the elements that every one has. */
  static String document(String code, String message, String requestId) {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>"
        + code
        + "</Code><Message>"
        + message
        + "</Message><RequestId>"
        + requestId
        + "</RequestId></Error>";
  }

  /** TCP reset after so many bytes of the body; 0 resets after the head. */
  static Fault resetAfter(int bytes) {
    return reply -> reply.cut(bytes, HostileReply.Cut.RESET);
  }

  /** The connection ends in order after so many bytes of the body, too early. */
  static Fault endAfter(int bytes) {
    return reply -> reply.cut(bytes, HostileReply.Cut.END);
  }

  /** Nothing more comes after so many bytes of the body, but the connection stays open. */
  static Fault stallAfter(int bytes) {
    return reply -> reply.cut(bytes, HostileReply.Cut.STALL);
  }

  /** TCP reset after that part of the body, from 0 to 1. */
  static Fault resetAt(double part) {
    return reply -> reply.cut((long) (part * (reply.to() - reply.from())), HostileReply.Cut.RESET);
  }

  /** The connection ends in order after that part of the body, from 0 to 1. */
  static Fault endAt(double part) {
    return reply -> reply.cut((long) (part * (reply.to() - reply.from())), HostileReply.Cut.END);
  }

  /** TCP reset in place of an answer. */
  static Fault resetAtOnce() {
    return reply -> reply.cut(-1, HostileReply.Cut.RESET);
  }

  /** The connection ends in place of an answer. */
  static Fault endAtOnce() {
    return reply -> reply.cut(-1, HostileReply.Cut.END);
  }

  /** No answer at all, on an open connection. */
  static Fault stallAtOnce() {
    return reply -> reply.cut(-1, HostileReply.Cut.STALL);
  }

  /** The answer begins late. */
  static Fault delay(Duration delay) {
    return reply -> reply.delay(delay);
  }

  /** The body comes in pieces of so many bytes, with a pause before each. */
  static Fault trickle(int bytes, Duration pause) {
    return reply -> reply.pace(bytes, pause);
  }

  /** 200 and the whole object, whatever range was asked for. */
  static Fault wholeObject() {
    return reply -> {
      reply.status(200);
      reply.body(0, reply.objectSize());
      reply.header("Content-Range", null);
    };
  }

  /** The right bytes and Content-Range, but status 200. */
  static Fault rangeAs200() {
    return reply -> reply.status(200);
  }

  /** 206 without Content-Range. */
  static Fault withoutContentRange() {
    return header("Content-Range", null);
  }

  /** The bytes asked for, under another Content-Range. */
  static Fault contentRange(String value) {
    return header("Content-Range", value);
  }

  /** Content-Range with an unknown total. */
  static Fault unknownTotal() {
    return reply ->
        reply.header(
            "Content-Range",
            String.format(Locale.ROOT, "bytes %d-%d/*", reply.from(), reply.to() - 1));
  }

  /** The right range and bytes, under a total that is wrong by that much. */
  static Fault total(long by) {
    return reply ->
        reply.header(
            "Content-Range",
            String.format(
                Locale.ROOT,
                "bytes %d-%d/%d",
                reply.from(),
                reply.to() - 1,
                reply.objectSize() + by));
  }

  /** Another range of the object than asked for, honestly labelled. */
  static Fault shifted(int by) {
    return reply -> {
      reply.body(reply.from() + by, reply.to() + by);
      reply.labelRange();
    };
  }

  /** Fewer bytes at the end than asked for, in a well-formed answer. */
  static Fault shorter(int by) {
    return reply -> {
      reply.body(reply.from(), reply.to() - by);
      reply.labelRange();
    };
  }

  /** More bytes than asked for, in a well-formed answer. */
  static Fault longer(int by) {
    return reply -> {
      reply.body(reply.from(), reply.to() + by);
      reply.labelRange();
    };
  }

  /** Right head, but more bytes follow than it announces. */
  static Fault overflow(int by) {
    return reply -> reply.overflow(by);
  }

  /** The body in HTTP chunks, so without a length. */
  static Fault chunked() {
    return reply -> reply.framing(HostileReply.Framing.CHUNKS);
  }

  /** The body up to the end of the connection, so without a length. */
  static Fault untilClose() {
    return reply -> reply.framing(HostileReply.Framing.CLOSE);
  }

  /**
   * A body of so many other bytes, complete by HTTP, under the head of the right ones: what
   * somebody between here and the store says.
   */
  static Fault junk(int bytes) {
    return reply -> reply.junk(StoredContent.generated(bytes, -1));
  }

  /** Any bytes in place of the answer, then the end of the connection. */
  static Fault rewritten(HostileReply.Rewriter rewriter) {
    return reply -> reply.rewrite(rewriter);
  }

  /** Another ETag than the object's; null for none. */
  static Fault etag(String value) {
    return header("ETag", value);
  }

  /** A header set, or with null removed. */
  static Fault header(String name, String value) {
    return reply -> reply.header(name, value);
  }
}
