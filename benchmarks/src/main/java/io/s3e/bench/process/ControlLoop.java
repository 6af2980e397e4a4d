// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The child's side of {@link ChildJvm}: answers commands one after the other until the parent
 * closes the line or dies. Events may be sent by any thread.
 *
 * <p>Standard output belongs to the messages: {@code System.out} is led to standard error, so that
 * a library that prints cannot break a line.
 */
public final class ControlLoop {

  /** Runs one command; its exceptions are reported to the parent. */
  @FunctionalInterface
  public interface Command {
    @Nullable Object run(JsonNode body) throws Exception;
  }

  private final ObjectMapper json = new ObjectMapper();
  private final PrintStream out;

  public ControlLoop() {
    out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
  }

  /** Turns a command's body into a record. */
  public <T> T parse(JsonNode body, Class<T> type) throws IOException {
    return json.treeToValue(body, type);
  }

  /** Tells the parent something before the result is there. */
  public void event(String name, @Nullable Object body) {
    write(new Message(name, json.valueToTree(body)));
  }

  /**
   * Ends the running command with this result, and this JVM with it, without waiting for its
   * threads.
   */
  public void resultAndHalt(Object body) {
    event(Message.RESULT, body);
    Runtime.getRuntime().halt(0);
  }

  /**
   * Serves until the input ends, then halts the JVM: no library's thread can keep it. The input is
   * read on a thread of its own, so that the end of the parent ends a child in the middle of a
   * command too.
   */
  public void serve(Map<String, Command> commands) throws InterruptedException {
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread lifeline = new Thread(() -> readLines(lines), "lifeline");
    lifeline.setDaemon(true);
    lifeline.start();
    while (true) {
      answer(commands, lines.take());
    }
  }

  private static void readLines(BlockingQueue<String> lines) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The line to the parent broke", e);
    } finally {
      Runtime.getRuntime().halt(0);
    }
  }

  private void answer(Map<String, Command> commands, String line) {
    try {
      Message message = json.readValue(line, Message.class);
      Command command = commands.get(message.name());
      if (command == null) {
        throw new IllegalArgumentException("No such command: " + message.name());
      }
      event(Message.RESULT, command.run(message.body()));
    } catch (Exception | LinkageError e) {
      e.printStackTrace(System.err);
      event(Message.ERROR, describe(e));
    }
  }

  /** A throwable and its causes in one line. */
  public static String describe(Throwable throwable) {
    StringBuilder text = new StringBuilder();
    String last = "";
    for (Throwable t = throwable; t != null && text.length() < 2000; t = t.getCause()) {
      String message = t.getMessage() == null ? "" : t.getMessage().replaceAll("\\s+", " ");
      if (!message.isEmpty() && last.contains(message)) {
        continue;
      }
      text.append(text.isEmpty() ? "" : " ← ").append(t.getClass().getSimpleName());
      text.append(message.isEmpty() ? "" : ": ").append(message);
      last = message;
    }
    return text.toString();
  }

  private synchronized void write(Message message) {
    try {
      out.print(json.writeValueAsString(message) + '\n');
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("Not a message: " + message, e);
    }
  }
}
