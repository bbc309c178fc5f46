package dev.webviewbridge.host;

import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.os.Looper;
import dev.webviewbridge.host.core.Json;
import dev.webviewbridge.host.core.UnixSockets;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A client of the control protocol in the test's own thread, which runs the main looper while it waits. */
final class TestClient implements AutoCloseable {
    static final String TOKEN = "ab".repeat(32);
    private static final long TIMEOUT_NS = 60_000_000_000L;

    final ArrayDeque<Map<String, Object>> events = new ArrayDeque<>();
    private final SocketChannel channel;
    private ByteBuffer held = ByteBuffer.allocate(1 << 20);
    private long ids;
    private boolean isAtEnd;

    TestClient(UnixSockets sockets, String name) throws Exception {
        channel = SocketChannel.open(UnixDomainSocketAddress.of(sockets.path(name).toPath()));
        channel.configureBlocking(false);
    }

    Map<String, Object> hello(String name) throws Exception {
        String nonce = "11".repeat(16);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(java.util.HexFormat.of().parseHex(TOKEN), "HmacSHA256"));
        String proof = java.util.HexFormat.of()
                .formatHex(mac.doFinal(("client|" + nonce + "|" + name).getBytes(StandardCharsets.US_ASCII)));
        return ask("hello", "\"protocol\":1,\"client\":\"t\",\"owner\":\"t\",\"policy\":\"\",\"nonce\":\"" + nonce
                + "\",\"proof\":\"" + proof + "\"", 0);
    }

    Map<String, Object> ask(String type, String fields) throws Exception {
        return ask(type, fields, 0);
    }

    /** The header of the reply. */
    Map<String, Object> ask(String type, String fields, int bodyBytes) throws Exception {
        long id = ++ids;
        String header = "{\"id\":" + id + ",\"type\":\"" + type + "\"" + (fields.isEmpty() ? "" : "," + fields) + "}";
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer frame = ByteBuffer.allocate(8 + text.length + bodyBytes);
        frame.putInt(text.length).putInt(bodyBytes).put(text).rewind();
        while (frame.hasRemaining()) {
            channel.write(frame);
        }
        Map<String, Object>[] reply = cast(new Map[1]);
        await("a reply to " + type, () -> {
            Map<String, Object> next = next();
            if (next != null && next.containsKey("event")) {
                events.add(next);
            } else if (next != null) {
                reply[0] = next;
            }
            return reply[0] != null;
        });
        return reply[0];
    }

    Map<String, Object> event() throws Exception {
        await("an event", () -> {
            Map<String, Object> next = events.isEmpty() ? next() : null;
            if (next != null) {
                events.add(next);
            }
            return !events.isEmpty();
        });
        return events.remove();
    }

    void awaitEnd() throws Exception {
        await("the end", () -> {
            next();
            return isAtEnd;
        });
    }

    @Override
    public void close() throws Exception {
        channel.close();
    }

    interface Condition {
        boolean holds() throws Exception;
    }

    /** Runs what is due on the main looper, without letting its clock go on, until it holds. */
    static void await(String what, Condition condition) throws Exception {
        long endNs = System.nanoTime() + TIMEOUT_NS;
        while (!condition.holds()) {
            assertTrue("waited in vain for " + what, System.nanoTime() < endNs);
            shadowOf(Looper.getMainLooper()).idle();
            LockSupport.parkNanos(500_000);
        }
    }

    private Map<String, Object> next() throws Exception {
        if (!isAtEnd) {
            try {
                isAtEnd = channel.read(held) < 0;
            } catch (java.io.IOException reset) {
                isAtEnd = true;
            }
        }
        if (held.position() < 8 || held.position() < 8 + held.getInt(0) + held.getInt(4)) {
            return null;
        }
        held.flip();
        byte[] header = new byte[held.getInt()];
        int bodyBytes = held.getInt();
        held.get(header).position(held.position() + bodyBytes);
        held.compact();
        return Json.parseObject(new String(header, StandardCharsets.UTF_8));
    }

    @SuppressWarnings("unchecked")
    private static <T> T cast(Object value) {
        return (T) value;
    }
}
