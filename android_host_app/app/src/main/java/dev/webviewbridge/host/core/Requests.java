package dev.webviewbridge.host.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Serves requests (PROTOCOL.md §5). Requests that name the same tab are served in order. */
final class Requests {
    static final int MAX_CAPTURE_HEIGHT_PX = 10_000;
    static final long OPEN_TIMEOUT_MS = 20_000;
    private static final Map<String, Object> NOTHING = Collections.emptyMap();
    private static final byte[] NO_BODY = new byte[0];
    private static final Set<String> OF_A_TAB = new HashSet<>(
            Arrays.asList("tab.close", "tab.resize", "tab.reset", "file.put", "capture", "touch"));

    private final HostCore core;
    private final Map<String, Handler> handlers = new HashMap<>();

    private interface Handler {
        void serve(Request request, Response response) throws Refusal;
    }

    /** Replies to the request, and then lets the next one of the same tab begin. */
    private static final class Response {
        private final Connection.Reply reply;
        private final Runnable done;
        private boolean isSent;

        Response(Connection.Reply reply, Runnable done) {
            this.reply = reply;
            this.done = done;
        }

        void send(Map<String, Object> fields) {
            if (!isSent) {
                isSent = true;
                reply.send(fields, NO_BODY, () -> {});
                done.run();
            }
        }

        /** The tab's next request starts after the body was written, so that bodies do not accumulate in memory. */
        void send(Map<String, Object> fields, byte[] body) {
            if (!isSent) {
                isSent = true;
                reply.send(fields, body, done);
            }
        }

        void sendThen(Map<String, Object> fields, Runnable written) {
            isSent = true;
            reply.send(fields, NO_BODY, written);
            done.run();
        }

        void refuse(Refusal why) {
            if (!isSent) {
                isSent = true;
                reply.refuse(why);
                done.run();
            }
        }

        <T> Callback<T> then(Follow<T> follow) {
            return new Callback<T>() {
                @Override
                public void done(T value) {
                    try {
                        follow.take(value);
                    } catch (Refusal why) {
                        refuse(why);
                    } catch (RuntimeException error) {
                        refuse(Refusal.internal(error));
                    }
                }

                @Override
                public void failed(Refusal why) {
                    refuse(why);
                }
            };
        }
    }

    private interface Follow<T> {
        void take(T value) throws Refusal;
    }

    Requests(HostCore core) {
        this.core = core;
        handlers.put("tab.open", this::open);
        handlers.put("tab.close", this::close);
        handlers.put("tab.list", this::list);
        handlers.put("tab.resize", this::resize);
        handlers.put("tab.reset", this::reset);
        handlers.put("file.put", this::putFile);
        handlers.put("file.delete", this::deleteFile);
        handlers.put("capture", this::capture);
        handlers.put("proxy.set", this::setProxy);
        handlers.put("touch", this::touch);
        handlers.put("stats", this::stats);
        handlers.put("shutdown", this::shutDown);
    }

    void serve(Request request, Connection.Reply reply) {
        Handler handler = handlers.get(request.type);
        Response plain = new Response(reply, () -> {});
        try {
            if (handler == null) {
                throw new Refusal("unknown_request", "unknown request " + request.shownType() + ".");
            }
            if (request.body.sizeBytes > 0 && !request.type.equals("file.put")) {
                throw new Refusal("bad_request", request.type + " takes no body.").with("field", "body");
            }
            boolean namesTab = OF_A_TAB.contains(request.type) && request.fields.has("tab");
            Tab tab = namesTab ? core.tabs.get(request.fields.tab()) : null;
            if (tab == null) {
                run(handler, request, plain);
            } else {
                tab.activeAtMs = core.loop.nowMs();
                tab.queue.add(done -> {
                    Response response = new Response(reply, () -> {
                        tab.onGone = () -> {};
                        done.run();
                    });
                    tab.onGone = () -> response.refuse(
                            new Refusal("no_such_tab", "the tab was closed during the request.").with("tab", tab.name));
                    run(handler, request, response);
                });
            }
        } catch (Refusal why) {
            request.body.discard();
            plain.refuse(why);
        }
    }

    private static void run(Handler handler, Request request, Response response) {
        try {
            handler.serve(request, response);
        } catch (Refusal why) {
            request.body.discard();
            response.refuse(why);
        } catch (RuntimeException error) {
            request.body.discard();
            response.refuse(Refusal.internal(error));
        }
    }

    private void open(Request request, Response response) throws Refusal {
        Size size = request.fields.size();
        String profile = request.fields.profile();
        if (core.tabs.isFull()) {
            String message = TabTable.MAX_TABS + " tabs are open.";
            throw new Refusal("too_many_tabs", message).with("max_tabs", TabTable.MAX_TABS);
        }
        String nonce = Hex.random(16);
        String url = blankUrl(nonce);
        Tab tab = new Tab(core.tabs.newName(), size, profile, null, nonce, core.loop.nowMs());
        new Opening(response, tab, url).start();
    }

    /** A tab that is being opened: it succeeds, fails or times out. */
    private final class Opening implements Callback<WebTab> {
        private final Response response;
        private final Tab tab;
        private final String url;
        private final Runnable abandon = () -> giveUp("the host app is stopping.");
        private Runnable cancelEngine = () -> {};
        private Runnable cancelTimer = () -> {};
        private boolean isOver;

        Opening(Response response, Tab tab, String url) {
            this.response = response;
            this.tab = tab;
            this.url = url;
        }

        void start() {
            core.tabs.startOpening(abandon);
            core.noteChange();
            cancelTimer = core.loop.postDelayed(
                    () -> giveUp("the first page did not load within " + OPEN_TIMEOUT_MS / 1000 + " s."), OPEN_TIMEOUT_MS);
            Runnable cancel = core.engine.open(tab.size, tab.profile, url, new TabListener(core, tab), this);
            if (!isOver) {
                cancelEngine = cancel;
            }
        }

        @Override
        public void done(WebTab web) {
            if (isOver) {
                return;
            }
            tab.web = web;
            tab.activeAtMs = core.loop.nowMs();
            core.add(tab);
            end();
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("tab", tab.name);
            fields.put("nonce", tab.nonce);
            fields.put("url", url);
            response.send(fields);
        }

        @Override
        public void failed(Refusal why) {
            if (!isOver) {
                end();
                response.refuse(why);
            }
        }

        private void giveUp(String why) {
            cancelEngine.run();
            failed(new Refusal("tab_failed", why));
        }

        private void end() {
            isOver = true;
            cancelTimer.run();
            core.tabs.endOpening(abandon);
            core.noteChange();
        }
    }

    private void close(Request request, Response response) throws Refusal {
        Tab tab = tab(request);
        tab.onGone = () -> {}; // this request closes it
        core.remove(tab);
        tab.web.close();
        response.send(NOTHING);
    }

    private void list(Request request, Response response) {
        List<Object> tabs = new ArrayList<>();
        for (Tab tab : core.tabs.all()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("tab", tab.name);
            entry.put("nonce", tab.nonce);
            entry.put("url", tab.web.url());
            entry.put("title", tab.web.title());
            putSize(entry, tab.size);
            entry.put("profile", tab.profile);
            entry.put("opener", tab.opener);
            entry.put("idle_s", (core.loop.nowMs() - tab.activeAtMs) / 1000.0);
            tabs.add(entry);
        }
        response.send(Collections.singletonMap("tabs", tabs));
    }

    private void resize(Request request, Response response) throws Refusal {
        Tab tab = tab(request);
        Size size = request.fields.size();
        tab.web.resize(size, response.then(nothing -> {
            tab.size = size;
            response.send(NOTHING);
        }));
    }

    private void reset(Request request, Response response) throws Refusal {
        Tab tab = tab(request);
        String nonce = Hex.random(16);
        String url = blankUrl(nonce);
        tab.nonce = nonce;
        Runnable cancelTimer = core.loop.postDelayed(() -> response.refuse(
                new Refusal("tab_failed", "the tab's renderer does not respond: close the tab.")), OPEN_TIMEOUT_MS);
        tab.web.reset(url, response.then(nothing -> {
            cancelTimer.run();
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("nonce", nonce);
            fields.put("url", url);
            response.send(fields);
        }));
    }

    private void putFile(Request request, Response response) throws Refusal {
        String name = request.fields.text("name", 1, 120);
        boolean chooser = request.fields.flag("chooser");
        if (!StagedFiles.isBaseName(name)) {
            throw new Refusal("bad_request", "the name is not a base name.").with("field", "name");
        }
        String tab = chooser || request.fields.has("tab") ? tab(request).name : null;
        StagedFiles.Staged staged = core.files.put(name, request.body, tab, chooser);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("path", staged.file.getPath());
        fields.put("size_bytes", staged.sizeBytes);
        response.send(fields);
    }

    private void deleteFile(Request request, Response response) throws Refusal {
        String path = request.fields.text("path", 1, 4096);
        if (!core.files.delete(path)) {
            throw new Refusal("no_such_file", path + " is not a staged file.");
        }
        response.send(NOTHING);
    }

    private void capture(Request request, Response response) throws Refusal {
        Tab tab = tab(request);
        boolean fullPage = request.fields.flag("full_page");
        String source = request.fields.oneOf("source", "canvas", "surface");
        int maxHeightPx = request.fields.integer("max_height_px", 1, MAX_CAPTURE_HEIGHT_PX, MAX_CAPTURE_HEIGHT_PX);
        if (fullPage && source.equals("surface")) {
            throw new Refusal("bad_request", "the surface shows the viewport only.").with("field", "source");
        }
        Callback<Capture> captured = response.then(capture -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("width_px", capture.widthPx);
            fields.put("height_px", capture.heightPx);
            fields.put("page_height_px", capture.pageHeightPx);
            fields.put("truncated", fullPage && capture.pageHeightPx > capture.heightPx);
            fields.put("source", source);
            response.send(fields, capture.png);
        });
        if (source.equals("surface")) {
            tab.web.captureSurface(captured);
        } else {
            tab.web.captureCanvas(fullPage, maxHeightPx, captured);
        }
    }

    private void setProxy(Request request, Response response) throws Refusal {
        Fields fields = request.fields;
        String host = fields.has("host") ? fields.text("host", 1, 255) : null;
        int port = host == null ? 0 : fields.integer("port", 1, 65535);
        if (!core.tabs.isEmpty()) {
            throw new Refusal("tabs_open", "existing connections would bypass the proxy.");
        }
        core.engine.setProxy(host, port, response.then(mechanism -> {
            Map<String, Object> reply = new LinkedHashMap<>();
            reply.put("mechanism", mechanism);
            reply.put("loopback", mechanism.equals("controller"));
            response.send(reply);
        }));
    }

    private void touch(Request request, Response response) throws Refusal {
        if (request.fields.has("tab")) {
            tab(request);
        } else {
            for (Tab tab : core.tabs.all()) {
                tab.activeAtMs = core.loop.nowMs();
            }
        }
        response.send(NOTHING);
    }

    private void stats(Request request, Response response) {
        Runtime runtime = Runtime.getRuntime();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("tabs", core.tabs.count());
        fields.put("clients", core.clientCount());
        fields.put("uptime_s", (core.loop.nowMs() - core.startedAtMs) / 1000.0);
        fields.put("owner", core.ownerName());
        fields.put("files", core.files.count());
        fields.put("file_bytes", core.files.sizeBytes());
        fields.put("heap_bytes", runtime.totalMemory() - runtime.freeMemory());
        fields.put("native_bytes", core.engine.nativeBytes());
        response.send(fields);
    }

    private void shutDown(Request request, Response response) {
        response.sendThen(NOTHING, () -> core.shutDown("requested by a client"));
    }

    private Tab tab(Request request) throws Refusal {
        return core.tabs.require(request.fields.tab());
    }

    static void putSize(Map<String, Object> fields, Size size) {
        fields.put("width_px", size.widthPx);
        fields.put("height_px", size.heightPx);
        fields.put("density_dpi", size.densityDpi);
    }

    private static String blankUrl(String nonce) {
        return "about:blank#" + nonce;
    }
}
