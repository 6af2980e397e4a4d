// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

/**
 * Reads Thrift's compact protocol. Every step is bounded by the bytes that are there: a list has no
 * more elements than bytes are left, and nesting ends at {@value #MAX_DEPTH}. Reading or skipping
 * all of n bytes takes O(n) steps.
 *
 * <p>A struct is read by {@link #enterStruct}, {@link #nextField} until that is false, with each
 * field read or {@linkplain #skipField skipped}; {@link #field} tells which it is. A field of
 * another type than it should have is skipped, as Thrift's own readers do, or refused.
 */
final class CompactReader extends BoundedReader {
  static final int TRUE = 1;
  static final int FALSE = 2;
  static final int BYTE = 3;
  static final int I16 = 4;
  static final int I32 = 5;
  static final int I64 = 6;
  static final int DOUBLE = 7;
  static final int BINARY = 8;
  static final int LIST = 9;
  static final int SET = 10;
  static final int MAP = 11;
  static final int STRUCT = 12;

  /** Parquet's footer nests seven deep. */
  private static final int MAX_DEPTH = 32;

  /** Field ids of the structs that are being read, outermost first; 0 of lists and maps. */
  private final int[] fields = new int[MAX_DEPTH];

  private int depth = -1;
  private int type;

  /** Type of the elements of the list that was entered last. */
  private int elementType;

  CompactReader(byte[] bytes, int start, int end) {
    super(bytes, start, end);
  }

  int field() {
    return fields[depth];
  }

  /** Begins to read a struct, which the present field or element is, or the whole input. */
  void enterStruct() throws MalformedException {
    if (++depth == MAX_DEPTH) {
      throw new MalformedException("nested deeper than " + MAX_DEPTH);
    }
    fields[depth] = 0;
  }

  /** Moves to the next field of the struct; false, and back in what holds it, at its end. */
  boolean nextField() throws MalformedException {
    int header = next();
    type = header & 0x0F;
    if (header == 0) {
      depth--;
      return false;
    }
    int delta = header >>> 4;
    int id = delta == 0 ? (int) readInteger() : fields[depth] + delta;
    if (id < 0 || id > Short.MAX_VALUE) {
      throw new MalformedException("no such field: " + id);
    }
    fields[depth] = id;
    return true;
  }

  void enterStructField() throws MalformedException {
    if (type != STRUCT) {
      throw new MalformedException("field " + field() + " is no struct but " + type);
    }
    enterStruct();
  }

  /** Has the present field, an integer, among {@code numbers} by its id; skips any other. */
  void readNumber(long[] numbers) throws MalformedException {
    boolean isInteger = type == I16 || type == I32 || type == I64;
    if (isInteger && field() < numbers.length) {
      numbers[field()] = readInteger();
    } else {
      skipField();
    }
  }

  private long readInteger() throws MalformedException {
    long value = readVarint();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Begins to read a list of structs, which the present field must be; how many there are. */
  int enterListOfStructs() throws MalformedException {
    if (type != LIST) {
      throw new MalformedException("field " + field() + " is no list but " + type);
    }
    int size = readListHeader();
    if (elementType != STRUCT) {
      throw new MalformedException("a list of " + elementType + " instead of structs");
    }
    return size;
  }

  private int readListHeader() throws MalformedException {
    int header = next();
    elementType = header & 0x0F;
    long size = header >> 4 == 15 ? readVarint() : header >> 4;
    if (size < 0 || size > remaining()) {
      throw new MalformedException("more elements than bytes");
    }
    return (int) size;
  }

  void skipField() throws MalformedException {
    if (type != TRUE && type != FALSE) {
      skip(type);
    }
  }

  /** Moves over one value; as an element, a boolean takes a byte. */
  private void skip(int kind) throws MalformedException {
    switch (kind) {
      case TRUE, FALSE, BYTE -> skipBytes(1);
      case I16, I32, I64 -> readVarint();
      case DOUBLE -> skipBytes(8);
      case BINARY -> skipBytes(readVarint());
      case LIST, SET -> skipList();
      case MAP -> skipMap();
      case STRUCT -> skipStruct();
      default -> throw new MalformedException("no such type: " + kind);
    }
  }

  private void skipList() throws MalformedException {
    int size = readListHeader();
    int kind = elementType;
    enterStruct();
    for (int i = 0; i < size; i++) {
      skip(kind);
    }
    depth--;
  }

  private void skipMap() throws MalformedException {
    long size = readVarint();
    int kinds = size == 0 ? 0 : next();
    if (size < 0 || size > remaining() / 2) {
      throw new MalformedException("more entries than bytes");
    }
    enterStruct();
    for (long i = 0; i < size; i++) {
      skip(kinds >>> 4);
      skip(kinds & 0x0F);
    }
    depth--;
  }

  /** Does not look at the ids of fields: most of a footer is skipped so. */
  private void skipStruct() throws MalformedException {
    enterStruct();
    for (int header = next(); header != 0; header = next()) {
      int kind = header & 0x0F;
      if (header >>> 4 == 0) {
        readVarint();
      }
      if (kind != TRUE && kind != FALSE) {
        skip(kind);
      }
    }
    depth--;
  }
}
