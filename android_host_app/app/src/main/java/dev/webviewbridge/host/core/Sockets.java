package dev.webviewbridge.host.core;

import java.io.IOException;

/** Creates sockets: in the abstract namespace on Android. */
public interface Sockets {
    /** Binds a socket to the name; IOException if it is in use. */
    Listener listen(String name) throws IOException;

    /** A bound socket. */
    interface Listener {
        /** Waits for a connection; IOException after close. */
        Peer accept() throws IOException;

        void close();
    }
}
