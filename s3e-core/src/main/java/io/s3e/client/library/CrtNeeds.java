package io.s3e.client.library;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Every class, method, constructor and field of aws-crt that S3E's compiled code names. Read from
 * the constant pools of the class files of {@code io.s3e.client.crt}, from one of them on to all
 * that it reaches, so that the answer cannot fall behind the code.
 *
 * @param reached binary names of S3E's classes whose needs these are
 * @param classes binary names of classes of aws-crt
 * @param members what is called or read of them
 */
record CrtNeeds(Set<String> reached, Set<String> classes, Set<Member> members) {
  static final String CRT_PREFIX = "software.amazon.awssdk.crt.";
  static final String CLIENT_PREFIX = "io.s3e.client.crt.";

  /**
   * A field, method or constructor ({@code <init>}).
   *
   * @param owner binary name of the class that the code names, which may inherit the member
   * @param descriptor as in class files
   */
  record Member(String owner, String name, String descriptor) {
    boolean isField() {
      return descriptor.charAt(0) != '(';
    }

    @Override
    public String toString() {
      return owner + "." + name + (isField() ? "" : descriptor);
    }
  }

  /**
   * Methods that the CRT calls on S3E's objects: no class file says that these override something.
   */
  static final Set<Member> CALLED_BACK =
      Set.of(
          new Member(
              CRT_PREFIX + "s3.S3MetaRequestResponseHandler",
              "onResponseHeaders",
              "(I[Lsoftware/amazon/awssdk/crt/http/HttpHeader;)V"),
          new Member(
              CRT_PREFIX + "s3.S3MetaRequestResponseHandler",
              "onResponseBody",
              "(Ljava/nio/ByteBuffer;JJ)I"),
          new Member(
              CRT_PREFIX + "s3.S3MetaRequestResponseHandler",
              "onTelemetry",
              "(Lsoftware/amazon/awssdk/crt/s3/S3RequestMetrics;)V"),
          new Member(
              CRT_PREFIX + "s3.S3MetaRequestResponseHandler",
              "onFinished",
              "(Lsoftware/amazon/awssdk/crt/s3/S3FinishedResponseContext;)V"),
          new Member(
              CRT_PREFIX + "s3.S3BorrowedBufferDelivery",
              "onResponseBodyBorrowed",
              "(Lsoftware/amazon/awssdk/crt/s3/S3BorrowedBuffer;JJ)I"),
          new Member(
              CRT_PREFIX + "auth.credentials.DelegateCredentialsHandler",
              "getCredentials",
              "()Lsoftware/amazon/awssdk/crt/auth/credentials/Credentials;"));

  /**
   * The needs of a class and of what it reaches.
   *
   * @param loader has the class files as resources
   * @param fence a class not to look behind; null for none
   * @throws IOException if a class file is missing or cannot be read
   */
  static CrtNeeds of(ClassLoader loader, String start, @Nullable String fence) throws IOException {
    CrtNeeds needs = new CrtNeeds(new HashSet<>(), new LinkedHashSet<>(), new LinkedHashSet<>());
    Deque<String> open = new ArrayDeque<>(Set.of(start));
    while (!open.isEmpty()) {
      String name = open.pop();
      if (name.equals(fence) || !needs.reached.add(name)) {
        continue;
      }
      String file = name.replace('.', '/') + ".class";
      try (InputStream in = loader.getResourceAsStream(file)) {
        if (in == null) {
          throw new IOException(file + " is missing");
        }
        needs.addFrom(ConstantPool.of(in.readAllBytes()), open);
      }
    }
    CALLED_BACK.stream()
        .filter(member -> needs.classes.contains(member.owner()))
        .forEach(needs.members::add);
    return needs;
  }

  private void addFrom(ConstantPool pool, Deque<String> open) {
    for (String name : pool.classes()) {
      if (name.startsWith(CRT_PREFIX)) {
        classes.add(name);
      } else if (name.startsWith(CLIENT_PREFIX)) {
        open.push(name);
      }
    }
    for (Member member : pool.members()) {
      if (member.owner().startsWith(CRT_PREFIX)) {
        members.add(member);
      }
    }
  }
}
