package dev.webviewbridge.host.core;

/** Bytes that are no frame, or a header that is no request; the connection is of no further use (PROTOCOL.md §2). */
public final class BadFrame extends Exception {
    private static final long serialVersionUID = 1;

    public BadFrame(String message) {
        super(message);
    }
}
