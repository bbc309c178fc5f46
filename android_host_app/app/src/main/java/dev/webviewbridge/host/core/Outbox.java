package dev.webviewbridge.host.core;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Map;

/** What waits to be written to one client, and the thread that writes it. */
final class Outbox {
    static final long WRITE_TIMEOUT_MS = 30_000;
    static final long MAX_UNREAD_BYTES = 16 * 1024 * 1024;
    private static final int PIECE_BYTES = 64 * 1024;

    private final Peer peer;
    private final Loop loop;
    private final ArrayDeque<Letter> letters = new ArrayDeque<>();
    private long unreadBytes;
    private long pieces;
    private boolean isWriting;
    private boolean isFinishing;
    private boolean isClosed;

    private static final class Letter {
        final byte[] head;
        final byte[] body;
        final Runnable written;

        Letter(byte[] head, byte[] body, Runnable written) {
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

    /** Queue an event; a client that does not read its events is cut off when too much has gathered. */
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

    /** Queue a frame; `written` runs on the loop when the client's socket has taken it, or never will. */
    void send(Map<String, Object> header, byte[] body, Runnable written) {
        byte[] text = Json.write(header).getBytes(StandardCharsets.UTF_8);
        byte[] head = ByteBuffer.allocate(8 + text.length).putInt(text.length).putInt(body.length).put(text).array();
        synchronized (this) {
            if (!isClosed && !isFinishing) {
                letters.add(new Letter(head, body, written));
                unreadBytes += head.length + body.length;
                notifyAll();
                return;
            }
        }
        loop.post(written);
    }

    /** Write what is queued, then close. */
    synchronized void finish() {
        isFinishing = true;
        notifyAll();
    }

    /** Close now; wakes the writer, and the reader of the same peer. */
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
            for (Letter letter = next(); letter != null; letter = next()) {
                try {
                    writePieces(out, letter.head);
                    writePieces(out, letter.body);
                    out.flush();
                } finally {
                    written(letter);
                }
            }
        } catch (IOException gone) {
            // the reader sees the end too
        } finally {
            close();
            for (Letter letter : letters) {
                loop.post(letter.written);
            }
        }
    }

    private synchronized Letter next() {
        while (letters.isEmpty() && !isFinishing && !isClosed) {
            try {
                wait();
            } catch (InterruptedException stop) {
                return null;
            }
        }
        if (isClosed || letters.isEmpty()) {
            return null;
        }
        isWriting = true;
        long before = pieces;
        loop.post(() -> watch(before));
        return letters.remove();
    }

    private synchronized void written(Letter letter) {
        isWriting = false;
        unreadBytes -= letter.head.length + letter.body.length;
        loop.post(letter.written);
    }

    private void writePieces(OutputStream out, byte[] bytes) throws IOException {
        for (int from = 0; from < bytes.length; from += PIECE_BYTES) {
            out.write(bytes, from, Math.min(PIECE_BYTES, bytes.length - from));
            synchronized (this) {
                pieces++;
            }
        }
    }

    /** Close when not one piece has been taken for 30 s while one was owed (PROTOCOL.md §3). */
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
