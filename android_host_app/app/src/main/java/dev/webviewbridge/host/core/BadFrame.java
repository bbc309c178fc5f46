package dev.webviewbridge.host.core;

/** An invalid frame or request; the connection cannot be used any further (PROTOCOL.md §2). */
public final class BadFrame extends Exception {
    private static final long serialVersionUID = 1;

    public BadFrame(String message) {
        super(message);
    }
}
