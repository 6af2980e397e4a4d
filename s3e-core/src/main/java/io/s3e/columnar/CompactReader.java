package io.s3e.columnar;

/**
 * Reads Thrift's compact protocol out of an array. Every step is bounded by the bytes that are
 * there: a list has no more elements than bytes are left, nesting ends at {@value #MAX_DEPTH}, and
 * nothing is allocated. Reading or skipping all of n bytes takes O(n) steps.
 *
 * <p>A struct is read by {@link #enterStruct}, {@link #nextField} until that is false, with each
 * field read or {@linkplain #skipField skipped}; {@link #field} and {@link #type} tell which it is.
 * Not thread-safe.
 */
final class CompactReader {
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

  private static final int MAX_VARINT_BYTES = 10;

  private final byte[] bytes;
  private final int end;
  private int at;

  /** Field ids of the structs that are being read, outermost first. */
  private final int[] fields = new int[MAX_DEPTH];

  private int depth = -1;
  private int type;

  /** Type of the elements of the list that was entered last. */
  private int elementType;

  CompactReader(byte[] bytes, int start, int end) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  /** Index of the next byte. */
  int position() {
    return at;
  }

  /** Bytes that are left. */
  int remaining() {
    return end - at;
  }

  /** Id of the present field. */
  int field() {
    return fields[depth];
  }

  /** Type of the present field. */
  int type() {
    return type;
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
    if (type == 0 || type > STRUCT) {
      throw new MalformedException("no such type: " + type);
    }
    int delta = header >>> 4;
    int id = delta == 0 ? (int) readInteger() : fields[depth] + delta;
    if (id < 0 || id > Short.MAX_VALUE) {
      throw new MalformedException("no such field: " + id);
    }
    fields[depth] = id;
    return true;
  }

  /** The value of an integer field, which must be one. */
  long readIntegerField() throws MalformedException {
    if (type != I16 && type != I32 && type != I64) {
      throw new MalformedException("field " + field() + " is no integer but " + type);
    }
    return readInteger();
  }

  private long readInteger() throws MalformedException {
    long value = readVarint();
    return (value >>> 1) ^ -(value & 1);
  }

  private long readVarint() throws MalformedException {
    long value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      int part = next();
      value |= (long) (part & 0x7F) << (7 * i);
      if (part < 0x80) {
        return value;
      }
    }
    throw new MalformedException("an integer of more than " + MAX_VARINT_BYTES + " bytes");
  }

  /**
   * Begins to read a list of structs, which the present field must be.
   *
   * @return how many structs; each takes a byte at least
   */
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
    int size = header >>> 4;
    elementType = header & 0x0F;
    if (elementType == 0 || elementType > STRUCT) {
      throw new MalformedException("no such type of element: " + elementType);
    }
    if (size == 15) {
      long wanted = readVarint();
      size = wanted < 0 || wanted > remaining() ? Integer.MAX_VALUE : (int) wanted;
    }
    return requireRoom(size);
  }

  private int requireRoom(int elements) throws MalformedException {
    if (elements > remaining()) {
      throw new MalformedException("more elements than bytes");
    }
    return elements;
  }

  /** Moves over the value of the present field. */
  void skipField() throws MalformedException {
    if (type != TRUE && type != FALSE) {
      skip(type, depth + 1);
    }
  }

  /**
   * Moves over one value.
   *
   * @param nesting how deep it lies
   */
  private void skip(int kind, int nesting) throws MalformedException {
    if (nesting >= MAX_DEPTH) {
      throw new MalformedException("nested deeper than " + MAX_DEPTH);
    }
    switch (kind) {
      case TRUE, FALSE, BYTE -> skipBytes(1);
      case I16, I32, I64 -> skipVarint();
      case DOUBLE -> skipBytes(8);
      case BINARY -> skipBytes(readVarint());
      case LIST, SET -> skipList(nesting);
      case MAP -> skipMap(nesting);
      case STRUCT -> skipStruct(nesting);
      default -> throw new MalformedException("no such type: " + kind);
    }
  }

  private void skipVarint() throws MalformedException {
    while (next() >= 0x80) {
      // The last byte is less.
    }
  }

  private void skipBytes(long count) throws MalformedException {
    if (count < 0 || count > remaining()) {
      throw new MalformedException("a value of " + count + " bytes where " + remaining() + " are");
    }
    at += (int) count;
  }

  private void skipList(int nesting) throws MalformedException {
    int size = readListHeader();
    int kind = elementType;
    for (int i = 0; i < size; i++) {
      skip(kind, nesting + 1);
    }
  }

  private void skipMap(int nesting) throws MalformedException {
    long size = readVarint();
    if (size == 0) {
      return;
    }
    int kinds = next();
    if (size < 0 || size > remaining() / 2) {
      throw new MalformedException("more entries than bytes");
    }
    for (long i = 0; i < size; i++) {
      skip(kinds >>> 4, nesting + 1);
      skip(kinds & 0x0F, nesting + 1);
    }
  }

  private void skipStruct(int nesting) throws MalformedException {
    for (int header = next(); header != 0; header = next()) {
      int kind = header & 0x0F;
      if (header >>> 4 == 0) {
        skipVarint();
      }
      if (kind != TRUE && kind != FALSE) {
        skip(kind, nesting + 1);
      }
    }
  }

  private int next() throws MalformedException {
    if (at >= end) {
      throw new MalformedException("cut off");
    }
    return bytes[at++] & 0xFF;
  }
}
