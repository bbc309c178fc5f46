package dev.webviewbridge.host.core;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Map;

/** The messages for one client, and the thread that writes them. */
final class Outbox {
    static final long WRITE_TIMEOUT_MS = 30_000;
    static final long MAX_UNREAD_BYTES = 16 * 1024 * 1024;
    private static final int PIECE_BYTES = 64 * 1024;

    private final Peer peer;
    private final Loop loop;
    private final ArrayDeque<Message> messages = new ArrayDeque<>();
    private long unreadBytes;
    private long pieces;
    private boolean isWriting;
    private boolean isFinishing;
    private boolean isClosed;

    private static final class Message {
        final byte[] head;
        final byte[] body;
        final Runnable written;

        Message(byte[] head, byte[] body, Runnable written) {
            this.head = head;
            this.body = body;
            this.written = written;
        }
    }

    Outbox(Peer peer, Loop loop) {
        this.peer = peer;
        this.loop = loop;
    }

    void start(String name) {
        Thread writer = new Thread(this::write, name);
        writer.setDaemon(true);
        writer.start();
    }

    /** Queues an event. Disconnects a client that does not read and has too many bytes queued. */
    void sendEvent(Map<String, Object> header) {
        boolean isTooMuch;
        synchronized (this) {
            isTooMuch = unreadBytes > MAX_UNREAD_BYTES;
        }
        if (isTooMuch) {
            close();
        } else {
            send(header, new byte[0], () -> {});
        }
    }

    /** Queues a frame; `written` runs on the loop after it was written or the client disconnected. */
    void send(Map<String, Object> header, byte[] body, Runnable written) {
        byte[] text = Json.write(header).getBytes(StandardCharsets.UTF_8);
        byte[] head = ByteBuffer.allocate(8 + text.length).putInt(text.length).putInt(body.length).put(text).array();
        synchronized (this) {
            if (!isClosed && !isFinishing) {
                messages.add(new Message(head, body, written));
                unreadBytes += head.length + body.length;
                notifyAll();
                return;
            }
        }
        loop.post(written);
    }

    /** Writes all queued messages, then closes. */
    synchronized void finish() {
        isFinishing = true;
        notifyAll();
    }

    /** Closes at once; wakes the writer and the reader of the peer. */
    void close() {
        synchronized (this) {
            isClosed = true;
            notifyAll();
        }
        peer.close();
    }

    private void write() {
        try {
            OutputStream out = peer.output();
            for (Message message = next(); message != null; message = next()) {
                try {
                    writePieces(out, message.head);
                    writePieces(out, message.body);
                    out.flush();
                } finally {
                    written(message);
                }
            }
        } catch (IOException gone) {
            // the reader sees the end too
        } finally {
            close();
            for (Message message : messages) {
                loop.post(message.written);
            }
        }
    }

    private synchronized Message next() {
        while (messages.isEmpty() && !isFinishing && !isClosed) {
            try {
                wait();
            } catch (InterruptedException stop) {
                return null;
            }
        }
        if (isClosed || messages.isEmpty()) {
            return null;
        }
        isWriting = true;
        long before = pieces;
        loop.post(() -> watch(before));
        return messages.remove();
    }

    private synchronized void written(Message message) {
        isWriting = false;
        unreadBytes -= message.head.length + message.body.length;
        loop.post(message.written);
    }

    private void writePieces(OutputStream out, byte[] bytes) throws IOException {
        for (int from = 0; from < bytes.length; from += PIECE_BYTES) {
            out.write(bytes, from, Math.min(PIECE_BYTES, bytes.length - from));
            synchronized (this) {
                pieces++;
            }
        }
    }

    /** Closes if the client reads nothing for 30 s while messages are queued (PROTOCOL.md §3). */
    private void watch(long piecesBefore) {
        if (!isStuckAt(piecesBefore)) {
            return;
        }
        loop.postDelayed(() -> {
            if (isStuckAt(piecesBefore)) {
                close();
            } else {
                watchOn();
            }
        }, WRITE_TIMEOUT_MS);
    }

    private void watchOn() {
        long now;
        synchronized (this) {
            now = pieces;
        }
        watch(now);
    }

    private synchronized boolean isStuckAt(long piecesBefore) {
        return isWriting && !isClosed && pieces == piecesBefore;
    }
}
