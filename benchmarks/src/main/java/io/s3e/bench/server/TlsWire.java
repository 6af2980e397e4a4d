// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/**
 * TLS by the JDK over a blocking channel.
 *
 * <p>An {@link SSLEngine} rather than an {@code SSLSocket}: the socket makes one system call of
 * every record of 16 KiB, this class one of a batch. The batches' buffers are borrowed for as long
 * as a batch is on its way and the last returned is the first lent again, so that however many
 * connections there are, those that send share a few buffers which stay in the processor's cache.
 */
final class TlsWire implements Wire {

  /** Sixteen full records a system call. */
  private static final int BATCH_BYTES = 256 * 1024;

  /** Header, nonce and tag of a record; more than any cipher suite of AES-GCM adds. */
  private static final int RECORD_OVERHEAD_BYTES = 64;

  private static final int RECORD_BYTES = 16 * 1024;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /**
   * Buffers of one batch.
   *
   * @param records encrypted; on the heap, where the JDK's cipher is fastest
   * @param outgoing the same for the socket, outside the heap
   */
  private record Batch(ByteBuffer records, ByteBuffer outgoing) {
    static Batch allocate() {
      int records = BATCH_BYTES / RECORD_BYTES;
      int most = BATCH_BYTES + (records + 1) * RECORD_OVERHEAD_BYTES + RECORD_BYTES;
      return new Batch(ByteBuffer.allocate(most), ByteBuffer.allocateDirect(most));
    }
  }

  /** Batches that nobody uses at the moment. */
  private static final Deque<Batch> IDLE = new ConcurrentLinkedDeque<>();

  private final SocketChannel channel;
  private final SSLEngine engine;

  /** Records that came and are not decrypted yet; ready to be read from. */
  private final ByteBuffer received;

  /** Decrypted bytes for which the caller had no room; ready to be read from. */
  private final ByteBuffer decrypted;

  /**
   * Takes the channel over and shakes hands.
   *
   * @param engine an engine that has not begun, in the mode of this end
   */
  TlsWire(SocketChannel channel, SSLEngine engine) throws IOException {
    this.channel = channel;
    this.engine = engine;
    int packet = engine.getSession().getPacketBufferSize();
    this.received = ByteBuffer.allocate(engine.getUseClientMode() ? BATCH_BYTES : packet).flip();
    this.decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).flip();
    engine.beginHandshake();
    while (!step(engine.getHandshakeStatus())) {
      continue;
    }
  }

  /** Does what the handshake needs next; true when it needs nothing. */
  private boolean step(SSLEngineResult.HandshakeStatus status) throws IOException {
    switch (status) {
      case NEED_TASK -> {
        for (Runnable task = engine.getDelegatedTask();
            task != null;
            task = engine.getDelegatedTask()) {
          task.run();
        }
      }
      case NEED_WRAP -> write(NOTHING.duplicate());
      case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
        decrypted.clear();
        SSLEngineResult result = engine.unwrap(received, decrypted);
        decrypted.flip();
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW && !receive()) {
          throw new EOFException("Connection closed within the TLS handshake");
        }
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
          throw new EOFException("The peer ended TLS within the handshake");
        }
      }
      case FINISHED, NOT_HANDSHAKING -> {
        return true;
      }
    }
    return false;
  }

  private boolean receive() throws IOException {
    received.compact();
    try {
      return channel.read(received) >= 0;
    } finally {
      received.flip();
    }
  }

  /** Reads at least one byte, and as many as have come and fit; -1 at the end. */
  @Override
  public int read(ByteBuffer destination) throws IOException {
    int before = destination.position();
    while (destination.hasRemaining()) {
      if (decrypted.hasRemaining()) {
        int count = Math.min(decrypted.remaining(), destination.remaining());
        destination.put(decrypted.slice(decrypted.position(), count));
        decrypted.position(decrypted.position() + count);
        continue;
      }
      SSLEngineResult.Status status = decrypt(destination);
      boolean some = destination.position() > before;
      if (status == SSLEngineResult.Status.CLOSED) {
        return some ? destination.position() - before : -1;
      }
      if (status == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
        if (some) {
          break;
        }
        if (!receive()) {
          return -1;
        }
      }
    }
    return destination.position() - before;
  }

  /** Decrypts one record, into the destination when it has room for any record. */
  private SSLEngineResult.Status decrypt(ByteBuffer destination) throws IOException {
    SSLEngineResult result;
    if (destination.remaining() >= decrypted.capacity()) {
      result = engine.unwrap(received, destination);
    } else {
      decrypted.clear();
      result = engine.unwrap(received, decrypted);
      decrypted.flip();
    }
    // After the handshake nothing is left to do but to answer a change of keys.
    if (result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP) {
      write(NOTHING.duplicate());
    }
    return result.getStatus();
  }

  @Override
  public void write(ByteBuffer bytes) throws IOException {
    Batch batch = borrow();
    try {
      encrypt(bytes, batch);
    } finally {
      IDLE.push(batch);
    }
  }

  @Override
  public void transfer(ObjectFiles.OpenObject object, long position, int count) throws IOException {
    Batch batch = borrow();
    try {
      for (int done = 0; done < count; ) {
        int most = Math.min(BATCH_BYTES, count - done);
        ByteBuffer plain = object.memory().view(object.channel(), position + done, most);
        done += plain.remaining();
        encrypt(plain, batch);
      }
    } finally {
      IDLE.push(batch);
    }
  }

  private static Batch borrow() {
    Batch batch = IDLE.poll();
    return batch == null ? Batch.allocate() : batch;
  }

  /** Sends the bytes, or, when there are none, the record that the handshake needs. */
  private void encrypt(ByteBuffer bytes, Batch batch) throws IOException {
    ByteBuffer records = batch.records().clear();
    do {
      SSLEngineResult result = engine.wrap(bytes, records);
      switch (result.getStatus()) {
        case OK -> {}
        case BUFFER_OVERFLOW -> {
          if (records.position() == 0) {
            throw new SSLException("A TLS record is longer than " + records.capacity() + " bytes");
          }
          send(batch);
        }
        case CLOSED, BUFFER_UNDERFLOW ->
            throw new SSLException("The TLS connection is closed for writing");
      }
    } while (bytes.hasRemaining());
    send(batch);
  }

  private void send(Batch batch) throws IOException {
    ByteBuffer outgoing = batch.outgoing().clear();
    outgoing.put(batch.records().flip()).flip();
    while (outgoing.hasRemaining()) {
      channel.write(outgoing);
    }
    batch.records().clear();
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  /**
   * Ends the connection without TLS's farewell: HTTP says how long its messages are, and a thread
   * that closes a connection must not wait for a peer which does not read.
   */
  @Override
  public void close() throws IOException {
    channel.close();
  }
}
