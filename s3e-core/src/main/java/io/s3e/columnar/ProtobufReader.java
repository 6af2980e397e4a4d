package io.s3e.columnar;

/**
 * Reads protobuf messages out of an array, field by field. Bounded by the bytes that are there;
 * allocates nothing. Not thread-safe.
 */
final class ProtobufReader {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int FIXED32 = 5;
  private static final int MAX_VARINT_BYTES = 10;

  private final byte[] bytes;
  private int at;
  private int end;
  private int field;
  private int kind;

  ProtobufReader(byte[] bytes, int start, int end) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  /** Number of the present field. */
  int field() {
    return field;
  }

  /** Moves to the next field of the message; false at its end. */
  boolean nextField() throws MalformedException {
    if (at == end) {
      return false;
    }
    long tag = readVarint();
    kind = (int) (tag & 7);
    long number = tag >>> 3;
    if (number < 1 || number > Integer.MAX_VALUE) {
      throw new MalformedException("no such field: " + number);
    }
    field = (int) number;
    return true;
  }

  /** The value of the present field, a number that is not negative. */
  long readNumber() throws MalformedException {
    if (kind != VARINT) {
      throw new MalformedException("field " + field + " is no number");
    }
    long value = readVarint();
    if (value < 0) {
      throw new MalformedException("field " + field + " is negative");
    }
    return value;
  }

  /**
   * Begins to read the message that the present field is.
   *
   * @return where the outer message ends, for {@link #leave}
   */
  int enter() throws MalformedException {
    int length = readLength();
    int outer = end;
    end = at + length;
    return outer;
  }

  /** Goes on behind the message that was entered. */
  void leave(int outer) {
    at = end;
    end = outer;
  }

  /** Goes on from the hash of what stands before with the bytes of the present field. */
  long hash(long before) throws MalformedException {
    int length = readLength();
    at += length;
    return SchemaHash.go(before, bytes, at - length, at);
  }

  void skipField() throws MalformedException {
    switch (kind) {
      case VARINT -> readVarint();
      case FIXED64 -> skip(8);
      case FIXED32 -> skip(4);
      case LENGTH_DELIMITED -> skip(readLength());
      default -> throw new MalformedException("no such kind of field: " + kind);
    }
  }

  private int readLength() throws MalformedException {
    if (kind != LENGTH_DELIMITED) {
      throw new MalformedException("field " + field + " has no length");
    }
    long length = readVarint();
    if (length < 0 || length > end - at) {
      throw new MalformedException(length + " bytes where " + (end - at) + " are left");
    }
    return (int) length;
  }

  private void skip(int count) throws MalformedException {
    if (count > end - at) {
      throw new MalformedException("cut off");
    }
    at += count;
  }

  private long readVarint() throws MalformedException {
    long value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      if (at == end) {
        throw new MalformedException("cut off");
      }
      byte part = bytes[at++];
      value |= (long) (part & 0x7F) << (7 * i);
      if (part >= 0) {
        return value;
      }
    }
    throw new MalformedException("an integer of more than " + MAX_VARINT_BYTES + " bytes");
  }
}
