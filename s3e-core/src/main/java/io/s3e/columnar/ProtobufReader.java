// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.util.zip.Checksum;

/** Reads protobuf messages field by field. */
final class ProtobufReader extends BoundedReader {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int FIXED32 = 5;

  /** Number of the present field. */
  int field;

  private int kind;

  ProtobufReader(byte[] bytes, int start, int end) {
    super(bytes, start, end);
  }

  /** Moves to the next field of the message; false at its end. */
  boolean nextField() throws MalformedException {
    if (remaining() == 0) {
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
    long value = kind == VARINT ? readVarint() : -1;
    if (value < 0) {
      throw new MalformedException("field " + field + " is no number, or negative");
    }
    return value;
  }

  /** The numbers of a message by their fields, up to {@code most}; 0 for those that are absent. */
  long[] readNumbers(int most) throws MalformedException {
    long[] numbers = new long[most + 1];
    while (nextField()) {
      if (field <= most) {
        numbers[field] = readNumber();
      } else {
        skipField();
      }
    }
    return numbers;
  }

  /** As {@link #readNumbers}, of the message that the present field is. */
  long[] readNumbersOfField(int most) throws MalformedException {
    int length = readLength();
    int outer = end;
    end = at + length;
    long[] numbers = readNumbers(most);
    end = outer;
    return numbers;
  }

  /** How many fields of that number the message has, which is not begun to be read. */
  int count(int number) throws MalformedException {
    int start = at;
    int count = 0;
    while (nextField()) {
      count += field == number ? 1 : 0;
      skipField();
    }
    at = start;
    return count;
  }

  void addTo(Checksum sum) throws MalformedException {
    int length = readLength();
    sum.update(bytes, at, length);
    at += length;
  }

  void skipField() throws MalformedException {
    switch (kind) {
      case VARINT -> readVarint();
      case FIXED64 -> skipBytes(8);
      case FIXED32 -> skipBytes(4);
      case LENGTH_DELIMITED -> skipBytes(readVarint());
      default -> throw new MalformedException("no such kind of field: " + kind);
    }
  }

  private int readLength() throws MalformedException {
    long length = kind == LENGTH_DELIMITED ? readVarint() : -1;
    if (length < 0 || length > remaining()) {
      throw new MalformedException("field " + field + " has no length, or " + length);
    }
    return (int) length;
  }
}
