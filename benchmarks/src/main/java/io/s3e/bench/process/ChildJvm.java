// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A JVM started by this one, with this one's class path, running a main class that ends in {@link
 * ControlLoop#serve}. Its standard input is also its lifeline: it ends when this process does.
 *
 * <p>One thread at a time may call. A thread of its own reads what the child writes, so that a
 * caller can wait with a deadline. {@link #close} kills the child.
 */
public final class ChildJvm implements AutoCloseable {

  private static final Duration EXIT_GRACE = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final Writer commands;
  private final Path log;
  private final ObjectMapper json = new ObjectMapper();

  /** The lines of the child; an empty one at the end marks that it closed its output. */
  private final BlockingQueue<Optional<Message>> messages = new LinkedBlockingQueue<>();

  private ChildJvm(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
    this.commands =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    Thread reader = new Thread(this::readMessages, name + "-messages");
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Starts a child.
   *
   * @param name what errors call it
   * @param mainClass a class whose main method ends in {@link ControlLoop#serve}
   * @param jvmOptions options in front of the class
   * @param log file that takes its standard error, and what the JVM itself prints
   */
  public static ChildJvm start(String name, Class<?> mainClass, List<String> jvmOptions, Path log)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.add("-Djava.awt.headless=true");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(mainClass.getName());
    Process process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    return new ChildJvm(name, process, log);
  }

  private void readMessages() {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (line.startsWith("{")) {
          messages.add(Optional.of(json.readValue(line, Message.class)));
        } else {
          // The JVM itself prints, as -Xlog and a recording have it do.
          Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
      }
    } catch (IOException unreadable) {
      messages.add(
          Optional.of(
              new Message(Message.ERROR, json.getNodeFactory().textNode(unreadable.toString()))));
    } finally {
      messages.add(Optional.empty());
    }
  }

  /** The id of its process. */
  public long pid() {
    return process.pid();
  }

  /** Whether the child still runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Sends a command and waits for its result.
   *
   * @param patience longest time without any line from the child
   * @param resultType what the result's body holds
   * @throws ChildFailureException when the child refuses, ends, or is silent for longer
   */
  public <T> T call(String command, @Nullable Object body, Duration patience, Class<T> resultType)
      throws IOException, InterruptedException {
    return call(command, body, patience, resultType, (event, node) -> {});
  }

  /** As the shorter form, with a listener for the events that come before the result. */
  public <T> T call(
      String command,
      @Nullable Object body,
      Duration patience,
      Class<T> resultType,
      BiConsumer<String, JsonNode> events)
      throws IOException, InterruptedException {
    send(command, body);
    while (true) {
      Optional<Message> next = messages.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
      if (next == null) {
        close();
        throw new ChildFailureException(
            name + " was silent for " + patience.toSeconds() + " s and was ended");
      }
      if (next.isEmpty()) {
        throw new ChildFailureException(name + " ended unexpectedly" + lastWords());
      }
      Message message = next.get();
      switch (message.name()) {
        case Message.RESULT -> {
          return json.treeToValue(message.body(), resultType);
        }
        case Message.ERROR ->
            throw new ChildFailureException(name + ": " + message.body().asText());
        default -> events.accept(message.name(), message.body());
      }
    }
  }

  private void send(String command, @Nullable Object body) throws IOException {
    try {
      commands.write(json.writeValueAsString(new Message(command, json.valueToTree(body))));
      commands.write('\n');
      commands.flush();
    } catch (IOException brokenPipe) {
      throw new ChildFailureException(name + " is gone" + lastWords(), brokenPipe);
    }
  }

  private String lastWords() throws IOException {
    List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
    String last = lines.isEmpty() ? "nothing" : lines.get(lines.size() - 1);
    return " (its log says last: " + last + ")";
  }

  /** Ends the child, kindly at first. Idempotent. */
  @Override
  public void close() {
    try {
      // The child ends when its input does.
      commands.close();
    } catch (IOException alreadyGone) {
      process.destroy();
    }
    try {
      if (!process.waitFor(EXIT_GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
