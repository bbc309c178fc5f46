package dev.webviewbridge.host;

import android.net.LocalServerSocket;
import android.net.LocalSocket;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import dev.webviewbridge.host.core.Peer;
import dev.webviewbridge.host.core.Sockets;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Sockets in the abstract namespace, which adbd reaches as `localabstract:NAME`. */
final class LocalSockets implements Sockets {
    @Override
    public Listener listen(String name) throws IOException {
        return new AbstractListener(new LocalServerSocket(name));
    }

    private static final class AbstractListener implements Listener {
        private final LocalServerSocket socket;

        AbstractListener(LocalServerSocket socket) {
            this.socket = socket;
        }

        @Override
        public Peer accept() throws IOException {
            return new LocalPeer(socket.accept());
        }

        /** close() alone leaves a thread in accept() waiting: it closes the descriptor, not the socket (unix(7)). */
        @Override
        public void close() {
            try {
                Os.shutdown(socket.getFileDescriptor(), OsConstants.SHUT_RDWR);
            } catch (ErrnoException notConnected) {
                // Linux wakes accept() although this fails
            }
            try {
                socket.close();
            } catch (IOException alreadyClosed) {
                // nothing is left to close
            }
        }
    }

    private static final class LocalPeer implements Peer {
        private final LocalSocket socket;

        LocalPeer(LocalSocket socket) {
            this.socket = socket;
        }

        @Override
        public int uid() throws IOException {
            return socket.getPeerCredentials().getUid();
        }

        @Override
        public InputStream input() throws IOException {
            return socket.getInputStream();
        }

        @Override
        public OutputStream output() throws IOException {
            return socket.getOutputStream();
        }

        @Override
        public void close() {
            try {
                socket.shutdownInput();
                socket.shutdownOutput();
            } catch (IOException notConnected) {
                // the peer closed first
            }
            try {
                socket.close();
            } catch (IOException alreadyClosed) {
                // nothing is left to close
            }
        }
    }
}
