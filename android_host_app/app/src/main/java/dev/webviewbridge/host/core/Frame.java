package dev.webviewbridge.host.core;

import java.util.Map;

/** A header and a body, which may be empty. */
final class Frame {
    final Map<String, Object> header;
    final Body body;

    Frame(Map<String, Object> header, Body body) {
        this.header = header;
        this.body = body;
    }
}
