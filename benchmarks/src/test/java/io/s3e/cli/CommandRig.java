// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.testserver.S3TestServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Runs commands in this JVM against a server, with the test server's credentials. */
final class CommandRig implements AutoCloseable {
  private static final String ACCESS_KEY = "aws.accessKeyId";
  private static final String SECRET_KEY = "aws.secretAccessKey";

  private final URI endpoint;

  CommandRig(URI endpoint) {
    this.endpoint = endpoint;
    credentials(S3TestServer.ACCESS_KEY, S3TestServer.SECRET_KEY);
  }

  /** The output and the exit code of a command. */
  record Outcome(int code, byte[] out, String err) {
    String text() {
      return new String(out, UTF_8);
    }

    JsonNode json() throws IOException {
      return new ObjectMapper().readTree(out);
    }
  }

  void credentials(String accessKey, String secretKey) {
    System.setProperty(ACCESS_KEY, accessKey);
    System.setProperty(SECRET_KEY, secretKey);
  }

  /** Runs a command of the store, without standard input. */
  Outcome run(String... arguments) {
    return run(InputStream.nullInputStream(), arguments);
  }

  Outcome run(byte[] in, String... arguments) {
    return run(new ByteArrayInputStream(in), arguments);
  }

  Outcome run(InputStream in, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    return run(in, out, arguments);
  }

  Outcome run(InputStream in, OutputStream out, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(1, List.of("--endpoint", endpoint.toString(), "--path-style"));
    return runPlainly(in, out, all.toArray(String[]::new));
  }

  /** Runs the command with nothing but these arguments. */
  static Outcome runPlainly(String... arguments) {
    return runPlainly(InputStream.nullInputStream(), new ByteArrayOutputStream(), arguments);
  }

  /** The same, with a person at the keyboard. */
  static Outcome runTyping(String typed, String... arguments) {
    return runPlainly(
        new ByteArrayInputStream(typed.getBytes(UTF_8)), new ByteArrayOutputStream(), arguments);
  }

  static Outcome runPlainly(InputStream in, OutputStream out, String... arguments) {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream errors = new PrintStream(err, true, UTF_8);
    int code = S3eCommand.execute(new StandardStreams(in, out, errors, false), arguments);
    byte[] bytes = out instanceof ByteArrayOutputStream kept ? kept.toByteArray() : new byte[0];
    return new Outcome(code, bytes, err.toString(UTF_8));
  }

  @Override
  public void close() {
    System.clearProperty(ACCESS_KEY);
    System.clearProperty(SECRET_KEY);
  }
}
