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

/** What each request does (PROTOCOL.md §5). Requests that name the same tab are served in their order. */
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
        void serve(Request request, Answer answer) throws Refusal;
    }

    /** Answers the request, and then lets the next one of the same tab begin. */
    private static final class Answer {
        private final Connection.Reply reply;
        private final Runnable done;
        private boolean isGiven;

        Answer(Connection.Reply reply, Runnable done) {
            this.reply = reply;
            this.done = done;
        }

        void give(Map<String, Object> fields) {
            if (!isGiven) {
                isGiven = true;
                reply.send(fields, NO_BODY, () -> {});
                done.run();
            }
        }

        /** The tab's turn ends when the client has the body, so that bodies do not gather in memory. */
        void give(Map<String, Object> fields, byte[] body) {
            if (!isGiven) {
                isGiven = true;
                reply.send(fields, body, done);
            }
        }

        void giveThen(Map<String, Object> fields, Runnable written) {
            isGiven = true;
            reply.send(fields, NO_BODY, written);
            done.run();
        }

        void refuse(Refusal why) {
            if (!isGiven) {
                isGiven = true;
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
        Answer plain = new Answer(reply, () -> {});
        try {
            if (handler == null) {
                throw new Refusal("unknown_request", "this host does not know " + request.shownType() + ".");
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
                tab.turn.take(done -> {
                    Answer answer = new Answer(reply, () -> {
                        tab.onGone = () -> {};
                        done.run();
                    });
                    tab.onGone = () -> answer.refuse(
                            new Refusal("no_such_tab", "the tab went meanwhile.").with("tab", tab.name));
                    run(handler, request, answer);
                });
            }
        } catch (Refusal why) {
            request.body.discard();
            plain.refuse(why);
        }
    }

    private static void run(Handler handler, Request request, Answer answer) {
        try {
            handler.serve(request, answer);
        } catch (Refusal why) {
            request.body.discard();
            answer.refuse(why);
        } catch (RuntimeException error) {
            request.body.discard();
            answer.refuse(Refusal.internal(error));
        }
    }

    private void open(Request request, Answer answer) throws Refusal {
        Size size = request.fields.size();
        String profile = request.fields.profile();
        if (core.tabs.isFull()) {
            String message = TabTable.MAX_TABS + " tabs are open.";
            throw new Refusal("too_many_tabs", message).with("max_tabs", TabTable.MAX_TABS);
        }
        String nonce = Hex.random(16);
        String url = blankUrl(nonce);
        Tab tab = new Tab(core.tabs.newName(), size, profile, null, nonce, core.loop.nowMs());
        new Opening(answer, tab, url).start();
    }

    /** A tab that is not there yet: it is opened, or fails, or is given up after a while. */
    private final class Opening implements Callback<WebTab> {
        private final Answer answer;
        private final Tab tab;
        private final String url;
        private final Runnable abandon = () -> giveUp("the host app is stopping.");
        private Runnable cancelEngine = () -> {};
        private Runnable cancelTimer = () -> {};
        private boolean isOver;

        Opening(Answer answer, Tab tab, String url) {
            this.answer = answer;
            this.tab = tab;
            this.url = url;
        }

        void start() {
            core.tabs.startOpening(abandon);
            core.noteChange();
            cancelTimer = core.loop.postDelayed(
                    () -> giveUp("the first page has not loaded in " + OPEN_TIMEOUT_MS / 1000 + " s."), OPEN_TIMEOUT_MS);
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
            answer.give(fields);
        }

        @Override
        public void failed(Refusal why) {
            if (!isOver) {
                end();
                answer.refuse(why);
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

    private void close(Request request, Answer answer) throws Refusal {
        Tab tab = tab(request);
        tab.onGone = () -> {}; // it goes by this very request
        core.remove(tab);
        tab.web.close();
        answer.give(NOTHING);
    }

    private void list(Request request, Answer answer) {
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
        answer.give(Collections.singletonMap("tabs", tabs));
    }

    private void resize(Request request, Answer answer) throws Refusal {
        Tab tab = tab(request);
        Size size = request.fields.size();
        tab.web.resize(size, answer.then(nothing -> {
            tab.size = size;
            answer.give(NOTHING);
        }));
    }

    private void reset(Request request, Answer answer) throws Refusal {
        Tab tab = tab(request);
        String nonce = Hex.random(16);
        String url = blankUrl(nonce);
        tab.nonce = nonce;
        Runnable cancelTimer = core.loop.postDelayed(() -> answer.refuse(
                new Refusal("tab_failed", "the tab's renderer does not answer: close the tab.")), OPEN_TIMEOUT_MS);
        tab.web.reset(url, answer.then(nothing -> {
            cancelTimer.run();
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("nonce", nonce);
            fields.put("url", url);
            answer.give(fields);
        }));
    }

    private void putFile(Request request, Answer answer) throws Refusal {
        String name = request.fields.text("name", 1, 120);
        boolean chooser = request.fields.flag("chooser");
        if (!StagedFiles.isBaseName(name)) {
            throw new Refusal("bad_request", "the name is no base name.").with("field", "name");
        }
        String tab = chooser || request.fields.has("tab") ? tab(request).name : null;
        StagedFiles.Staged staged = core.files.put(name, request.body, tab, chooser);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("path", staged.file.getPath());
        fields.put("size_bytes", staged.sizeBytes);
        answer.give(fields);
    }

    private void deleteFile(Request request, Answer answer) throws Refusal {
        String path = request.fields.text("path", 1, 4096);
        if (!core.files.delete(path)) {
            throw new Refusal("no_such_file", path + " was not put here, or is gone.");
        }
        answer.give(NOTHING);
    }

    private void capture(Request request, Answer answer) throws Refusal {
        Tab tab = tab(request);
        boolean fullPage = request.fields.flag("full_page");
        String source = request.fields.oneOf("source", "canvas", "surface");
        int maxHeightPx = request.fields.integer("max_height_px", 1, MAX_CAPTURE_HEIGHT_PX, MAX_CAPTURE_HEIGHT_PX);
        if (fullPage && source.equals("surface")) {
            throw new Refusal("bad_request", "a surface has no more than the view.").with("field", "source");
        }
        Callback<Capture> captured = answer.then(capture -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("width_px", capture.widthPx);
            fields.put("height_px", capture.heightPx);
            fields.put("page_height_px", capture.pageHeightPx);
            fields.put("truncated", fullPage && capture.pageHeightPx > capture.heightPx);
            fields.put("source", source);
            answer.give(fields, capture.png);
        });
        if (source.equals("surface")) {
            tab.web.captureSurface(captured);
        } else {
            tab.web.captureCanvas(fullPage, maxHeightPx, captured);
        }
    }

    private void setProxy(Request request, Answer answer) throws Refusal {
        Fields fields = request.fields;
        String host = fields.has("host") ? fields.text("host", 1, 255) : null;
        int port = host == null ? 0 : fields.integer("port", 1, 65535);
        if (!core.tabs.isEmpty()) {
            throw new Refusal("tabs_open", "connections already made would stay outside the proxy.");
        }
        core.engine.setProxy(host, port, answer.then(mechanism -> {
            Map<String, Object> reply = new LinkedHashMap<>();
            reply.put("mechanism", mechanism);
            reply.put("loopback", mechanism.equals("controller"));
            answer.give(reply);
        }));
    }

    private void touch(Request request, Answer answer) throws Refusal {
        if (request.fields.has("tab")) {
            tab(request);
        } else {
            for (Tab tab : core.tabs.all()) {
                tab.activeAtMs = core.loop.nowMs();
            }
        }
        answer.give(NOTHING);
    }

    private void stats(Request request, Answer answer) {
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
        answer.give(fields);
    }

    private void shutDown(Request request, Answer answer) {
        answer.giveThen(NOTHING, () -> core.shutDown("a client asked for it"));
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
