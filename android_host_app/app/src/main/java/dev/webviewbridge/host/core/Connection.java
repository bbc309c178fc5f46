package dev.webviewbridge.host.core;

import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;

/** One control connection: a thread that reads frames, and the rules of PROTOCOL.md §3 and §4 on the loop. */
final class Connection {
    static final long HELLO_TIMEOUT_MS = 10_000;
    static final int MAX_IN_FLIGHT = 64;

    private final HostCore core;
    private final Endpoint endpoint;
    private final Outbox outbox;
    private final Peer peer;
    private final Set<Long> inFlight = new HashSet<>();
    // The reader hands over one frame at a time, so that frames do not accumulate and hello is handled before the next one.
    private final Semaphore taken = new Semaphore(0);
    private final Runnable cancelHelloTimer;
    private boolean isGreeted;
    private volatile boolean isWide;
    private boolean isOver;
    private long protocol;

    Connection(HostCore core, Endpoint endpoint, Peer peer) {
        this.core = core;
        this.endpoint = endpoint;
        this.peer = peer;
        this.outbox = new Outbox(peer, core.loop);
        this.cancelHelloTimer = core.loop.postDelayed(this::abort, HELLO_TIMEOUT_MS);
    }

    void start() {
        outbox.start("writer of " + endpoint.name);
        Thread reader = new Thread(this::read, "reader of " + endpoint.name);
        reader.setDaemon(true);
        reader.start();
    }

    void sendEvent(Map<String, Object> event) {
        outbox.sendEvent(event);
    }

    /** Closes at once, without writing queued messages. */
    void abort() {
        outbox.close();
        end();
    }

    /** Closes after all queued messages were written. */
    void finish() {
        outbox.finish();
        end();
    }

    private void read() {
        try {
            FrameReader frames = new FrameReader(peer.input(), core.files::newSpoolFile);
            for (Frame frame = frames.next(); frame != null; frame = frames.next()) {
                Frame next = frame;
                core.loop.post(() -> take(next));
                taken.acquire();
                if (isWide) {
                    frames.widen();
                }
            }
            core.loop.post(this::finish);
        } catch (BadFrame broken) {
            core.loop.post(() -> refuseAndEnd(null, new Refusal("bad_frame", broken.getMessage())));
        } catch (IOException | InterruptedException gone) {
            core.loop.post(this::abort);
        }
    }

    private void take(Frame frame) {
        if (isOver) {
            frame.body.discard();
            taken.release();
            return;
        }
        Request request;
        try {
            request = Request.of(frame);
        } catch (BadFrame broken) {
            frame.body.discard();
            refuseAndEnd(null, new Refusal("bad_frame", broken.getMessage()));
            taken.release();
            return;
        }
        if (isGreeted) {
            takeRequest(request);
            taken.release();
        } else if (request.type.equals("hello")) {
            isGreeted = true;
            core.handshakes.add(done -> shakeHands(request, () -> {
                done.run();
                taken.release();
            }));
        } else {
            String message = "the first request must be hello, not " + request.shownType() + ".";
            refuseAndEnd(request.id, new Refusal("hello_required", message));
            taken.release();
        }
    }

    private void takeRequest(Request request) {
        if (protocol != HostCore.PROTOCOL) {
            request.body.discard();
            String message = "the host speaks protocol " + HostCore.PROTOCOL + ", the client " + protocol + ".";
            refuseAndEnd(request.id, new Refusal("version_mismatch", message));
        } else if (inFlight.contains(request.id)) {
            request.body.discard();
            refuseAndEnd(null, new Refusal("bad_frame", "the id " + request.id + " is already used by a pending request."));
        } else if (inFlight.size() >= MAX_IN_FLIGHT) {
            request.body.discard();
            refuse(request.id, new Refusal("too_many_requests", MAX_IN_FLIGHT + " requests are pending."));
        } else {
            inFlight.add(request.id);
            core.requests.serve(request, new Reply(request));
        }
    }

    /** The reply to one request; a second one is ignored. */
    final class Reply {
        private final Request request;
        private boolean isReplied;

        Reply(Request request) {
            this.request = request;
        }

        /** `written` runs after the reply was written or the client disconnected. */
        void send(Map<String, Object> fields, byte[] body, Runnable written) {
            if (isReplied) {
                return;
            }
            isReplied = true;
            Map<String, Object> header = new LinkedHashMap<>();
            header.put("id", request.id);
            header.put("ok", true);
            header.putAll(fields);
            outbox.send(header, body, () -> {
                inFlight.remove(request.id);
                written.run();
            });
        }

        void refuse(Refusal why) {
            if (isReplied) {
                return;
            }
            isReplied = true;
            outbox.send(errorFrame(request.id, why), new byte[0], () -> inFlight.remove(request.id));
        }
    }

    private void shakeHands(Request request, Runnable done) {
        if (isOver) {
            done.run();
            return;
        }
        try {
            Fields fields = request.fields;
            Object nonce = fields.raw("nonce");
            if (!Hex.isHex(nonce, 32)) {
                throw new Refusal("bad_request", "nonce must have 32 hex digits.").with("field", "nonce");
            }
            String clientNonce = (String) nonce;
            if (!Proof.equal(Proof.ofClient(endpoint.token, clientNonce, endpoint.name), fields.raw("proof"))) {
                throw new Refusal("unproven", "the client did not prove that it knows the token.");
            }
            protocol = fields.integer("protocol", 1, Integer.MAX_VALUE);
            if (protocol != HostCore.PROTOCOL) {
                welcome(request, clientNonce, new LinkedHashMap<>());
                done.run();
                return;
            }
            fields.text("client", 1, 100);
            Owner newcomer = new Owner(fields.text("owner", 1, 200), fields.text("policy", 0, 128), core.loop.nowMs());
            core.admit(this, newcomer, new Callback<Map<String, Object>>() {
                @Override
                public void done(Map<String, Object> description) {
                    welcome(request, clientNonce, description);
                    done.run();
                }

                @Override
                public void failed(Refusal why) {
                    refuseAndEnd(request.id, why);
                    done.run();
                }
            });
        } catch (Refusal why) {
            refuseAndEnd(request.id, why);
            done.run();
        }
    }

    private void welcome(Request request, String clientNonce, Map<String, Object> description) {
        cancelHelloTimer.run();
        isWide = true;
        String nonce = Hex.random(16);
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("id", request.id);
        reply.put("ok", true);
        reply.put("protocol", HostCore.PROTOCOL);
        reply.put("app_version", core.identity.appVersion);
        reply.putAll(description);
        reply.put("nonce", nonce);
        reply.put("proof", Proof.ofHost(endpoint.token, clientNonce, nonce, endpoint.name));
        outbox.send(reply, new byte[0], () -> {});
    }

    boolean isOver() {
        return isOver;
    }

    private void refuse(Long id, Refusal why) {
        outbox.send(errorFrame(id, why), new byte[0], () -> {});
    }

    private void refuseAndEnd(Long id, Refusal why) {
        refuse(id, why);
        finish();
    }

    private static Map<String, Object> errorFrame(Long id, Refusal why) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("id", id);
        header.put("error", why.toError());
        return header;
    }

    private void end() {
        if (isOver) {
            return;
        }
        isOver = true;
        cancelHelloTimer.run();
        endpoint.connections.remove(this);
        core.left(this);
    }
}
