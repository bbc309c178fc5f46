package dev.webviewbridge.host.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** One accepted connection. */
public interface Peer {
    /** The kernel's uid of the process at the other end. */
    int uid() throws IOException;

    InputStream input() throws IOException;

    OutputStream output() throws IOException;

    /** Closes the connection at once and wakes blocked reads and writes. */
    void close();
}
