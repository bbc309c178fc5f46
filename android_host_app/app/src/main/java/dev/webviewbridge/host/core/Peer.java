package dev.webviewbridge.host.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** One accepted connection. */
public interface Peer {
    /** The uid of the process at the other end, as the kernel says. */
    int uid() throws IOException;

    InputStream input() throws IOException;

    OutputStream output() throws IOException;

    /** Ends the connection now, and wakes whoever waits in a read or a write. */
    void close();
}
