// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stores;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.testing.Eventually;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A store that somebody else made: a program of the directory that the system property {@value
 * #DIRECTORY} names, in a process of its own, on a free port of 127.0.0.1. Where the program is not
 * there its tests are skipped, and say so. {@code .ci/stores} brings the programs.
 */
final class StoreProgram implements AutoCloseable {
  static final String DIRECTORY = "s3e.stores";

  private static final Duration START = Duration.ofSeconds(60);

  private final Process process;
  private final int port;

  private StoreProgram(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts the program and returns when it takes connections.
   *
   * @param arguments with {@code PORT} and {@code DATA} in place of its port and its empty folder,
   *     and {@code PORT1} to {@code PORT9} in place of further ports
   */
  static StoreProgram start(
      String name, Path work, Map<String, String> environment, String... arguments)
      throws Exception {
    String directory = System.getProperty(DIRECTORY, "");
    Path program = Path.of(directory, name).toAbsolutePath();
    assumeTrue(
        !directory.isEmpty() && Files.isExecutable(program),
        () -> "there is no program " + program + ": .ci/stores brings it");
    List<Integer> ports = freePorts(10);
    Path data = Files.createDirectories(work.resolve("data"));
    List<String> command = new ArrayList<>(List.of(program.toString()));
    for (String argument : arguments) {
      String known = argument.replace("DATA", data.toString());
      for (int i = 1; i < ports.size(); i++) {
        known = known.replace("PORT" + i, String.valueOf(ports.get(i)));
      }
      command.add(known.replace("PORT", String.valueOf(ports.get(0))));
    }
    File log = work.resolve("log").toFile();
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(work.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log);
    builder.environment().putAll(environment);
    StoreProgram started = new StoreProgram(builder.start(), ports.get(0));
    try {
      Eventually.awaitTrue(
          name + " takes connections; its log is " + log, START, started::takesConnections);
    } catch (Throwable e) {
      started.close();
      throw e;
    }
    return started;
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> held = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        held.add(new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1")));
      }
      return held.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : held) {
        socket.close();
      }
    }
  }

  private boolean takesConnections() {
    if (!process.isAlive()) {
      throw new AssertionError("it has ended with " + process.exitValue());
    }
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
