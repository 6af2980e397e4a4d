package io.s3e.client.library;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The other classes that a class file names: the entries Class, Fieldref, Methodref and
 * InterfaceMethodref of its constant pool (Java Virtual Machine Specification, 4.4).
 *
 * @param classes binary names; of an array, its elements' class
 * @param members owner, name and descriptor
 */
record ConstantPool(List<String> classes, List<CrtNeeds.Member> members) {
  private static final int MAGIC = 0xCAFEBABE;

  static ConstantPool of(byte[] classFile) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
    if (in.readInt() != MAGIC) {
      throw new IOException("not a class file");
    }
    in.readInt(); // The version.
    int count = in.readUnsignedShort();
    int[] tags = new int[count];
    int[] first = new int[count];
    int[] second = new int[count];
    String[] texts = new String[count];
    for (int i = 1; i < count; i++) {
      tags[i] = in.readUnsignedByte();
      switch (tags[i]) {
        case 1 -> texts[i] = in.readUTF();
        case 3, 4 -> in.readInt();
        // Long and Double take two places.
        case 5, 6 -> {
          in.readLong();
          i++;
        }
        case 7, 8, 16, 19, 20 -> first[i] = in.readUnsignedShort();
        case 9, 10, 11, 12, 17, 18 -> {
          first[i] = in.readUnsignedShort();
          second[i] = in.readUnsignedShort();
        }
        case 15 -> {
          in.readUnsignedByte();
          in.readUnsignedShort();
        }
        default -> throw new IOException("unknown constant " + tags[i] + " in a class file");
      }
    }
    List<String> classes = new ArrayList<>();
    List<CrtNeeds.Member> members = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      if (tags[i] == 7) {
        classes.add(className(texts[first[i]]));
      } else if (tags[i] >= 9 && tags[i] <= 11) {
        int nameAndType = second[i];
        members.add(
            new CrtNeeds.Member(
                className(texts[first[first[i]]]),
                texts[first[nameAndType]],
                texts[second[nameAndType]]));
      }
    }
    return new ConstantPool(classes, members);
  }

  /** {@code a/b/C}, {@code [La/b/C;} and {@code [[La/b/C;} name the class a.b.C. */
  private static String className(String internal) {
    String element =
        internal.startsWith("[") && internal.endsWith(";")
            ? internal.substring(internal.lastIndexOf('[') + 2, internal.length() - 1)
            : internal;
    return element.replace('/', '.');
  }
}
