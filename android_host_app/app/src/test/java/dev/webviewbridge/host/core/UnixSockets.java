package dev.webviewbridge.host.core;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Unix sockets in a folder, where the app has abstract ones. */
public final class UnixSockets implements Sockets {
    private final File folder;
    private final ConcurrentHashMap<String, File> bound = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    /** What `uid()` of the peers says. */
    public volatile int uid = HostCore.SHELL_UID;

    public UnixSockets(File folder) {
        this.folder = folder;
    }

    /** Where the socket of that name is; null when there is none. */
    public File path(String name) {
        return bound.get(name);
    }

    @Override
    public Listener listen(String name) throws IOException {
        File path = new File(folder, "s" + count.incrementAndGet()); // names may be longer than sun_path
        if (bound.putIfAbsent(name, path) != null) {
            throw new IOException("Address already in use");
        }
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(path.toPath()));
        return new Listener() {
            @Override
            public Peer accept() throws IOException {
                return new ChannelPeer(channel.accept(), uid);
            }

            @Override
            public void close() {
                bound.remove(name);
                try {
                    channel.close();
                    Files.deleteIfExists(path.toPath());
                } catch (IOException gone) {
                    // nothing is left to close
                }
            }
        };
    }

    private static final class ChannelPeer implements Peer {
        private final SocketChannel channel;
        private final int uid;

        ChannelPeer(SocketChannel channel, int uid) {
            this.channel = channel;
            this.uid = uid;
        }

        @Override
        public int uid() {
            return uid;
        }

        /** Not Channels.newInputStream(): its blocking reads and writes take one lock, so a reader stops the writer. */
        @Override
        public InputStream input() {
            return new InputStream() {
                @Override
                public int read() throws IOException {
                    byte[] one = new byte[1];
                    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
                }

                @Override
                public int read(byte[] into, int from, int count) throws IOException {
                    return channel.read(ByteBuffer.wrap(into, from, count));
                }
            };
        }

        @Override
        public OutputStream output() {
            return new OutputStream() {
                @Override
                public void write(int one) throws IOException {
                    write(new byte[] {(byte) one}, 0, 1);
                }

                @Override
                public void write(byte[] bytes, int from, int count) throws IOException {
                    ByteBuffer left = ByteBuffer.wrap(bytes, from, count);
                    while (left.hasRemaining()) {
                        channel.write(left);
                    }
                }
            };
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException gone) {
                // nothing is left to close
            }
        }
    }
}
