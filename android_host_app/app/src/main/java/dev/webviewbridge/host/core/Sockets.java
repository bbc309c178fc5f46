package dev.webviewbridge.host.core;

import java.io.IOException;

/** Where sockets come from: the abstract namespace on Android. */
public interface Sockets {
    /** A socket of that name; IOException when somebody has bound it. */
    Listener listen(String name) throws IOException;

    /** A bound socket. */
    interface Listener {
        /** Waits for a connection; IOException once closed. */
        Peer accept() throws IOException;

        void close();
    }
}
