package dev.webviewbridge.host.core;

import java.io.File;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The platform-independent part of the app: endpoints, clients, the owner, tabs, files and the end of the process.
 *
 * <p>All state is confined to the loop. Threads: one per endpoint accepts, one per connection reads and one writes.
 */
public final class HostCore {
    public static final int PROTOCOL = 1;
    static final int MAX_ENDPOINTS = 8;
    static final int DEFAULT_IDLE_TIMEOUT_S = 300;
    static final int ROOT_UID = 0;
    static final int SHELL_UID = 2000;

    final Loop loop;
    final WebEngine engine;
    final Identity identity;
    final StagedFiles files;
    final TabTable tabs = new TabTable();
    final Requests requests = new Requests(this);
    final SerialQueue handshakes = new SerialQueue();
    final long startedAtMs;

    private final Sockets sockets;
    private final HostCallbacks callbacks;
    private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();
    private final Set<Connection> clients = new LinkedHashSet<>();
    private IdleTimer idle;
    private Runnable cancelTimer = () -> {};
    private Owner owner;
    private boolean isOver;

    /** Constants of this process. */
    public static final class Identity {
        final String appVersion;
        final int apiLevel;
        final int pid;

        public Identity(String appVersion, int apiLevel, int pid) {
            this.appVersion = appVersion;
            this.apiLevel = apiLevel;
            this.pid = pid;
        }
    }

    /** The environment of the core. Called on the loop, except for `log`. */
    public interface HostCallbacks {
        void log(String text);

        /** The number of connected clients changed. */
        void clients(int count);

        /** Everything is closed; the service must stop. */
        void stopped(String why);
    }

    public HostCore(
            Loop loop, WebEngine engine, Sockets sockets, File folder, Identity identity, HostCallbacks callbacks) {
        this.loop = loop;
        this.engine = engine;
        this.sockets = sockets;
        this.identity = identity;
        this.callbacks = callbacks;
        this.files = new StagedFiles(folder);
        this.startedAtMs = loop.nowMs();
    }

    /** Adds the endpoint of an intent (PROTOCOL.md §1). Invalid extras are logged. */
    public void start(String name, String tokenHex, String idleTimeoutS) {
        if (isOver) {
            return;
        }
        if (idle == null) {
            idle = new IdleTimer(idleTimeout(idleTimeoutS), loop.nowMs());
        }
        if (!Endpoint.isUsable(name, tokenHex)) {
            callbacks.log("started without a valid socket name and token");
            if (endpoints.isEmpty()) {
                shutDown("no endpoint");
            }
            return;
        }
        makeRoom();
        try {
            Endpoint endpoint = new Endpoint(name, Hex.bytes(tokenHex), sockets.listen(name));
            endpoints.put(name, endpoint);
            Thread accepting = new Thread(() -> accept(endpoint), "accepting on " + name);
            accepting.setDaemon(true);
            accepting.start();
            callbacks.log("listening on @" + name);
        } catch (IOException taken) {
            callbacks.log("@" + name + " cannot be bound: " + taken.getMessage());
            if (endpoints.isEmpty()) {
                shutDown("no endpoint");
            }
        }
        noteChange();
    }

    /** Closes tabs and connections and deletes files. */
    public void shutDown(String why) {
        if (isOver) {
            return;
        }
        isOver = true;
        cancelTimer.run();
        for (Tab tab : tabs.all()) {
            remove(tab);
            tab.web.close();
        }
        tabs.abandonOpening();
        for (Endpoint endpoint : endpoints.values()) {
            endpoint.listener.close();
            for (Connection connection : new LinkedHashSet<>(endpoint.connections)) {
                connection.finish();
            }
        }
        endpoints.clear();
        files.clear();
        callbacks.stopped(why);
    }

    boolean isOver() {
        return isOver;
    }

    int clientCount() {
        return clients.size();
    }

    String ownerName() {
        return owner == null ? null : owner.name;
    }

    /** Admits the connection as a client if its owner may use the process; the fields of the hello reply. */
    void admit(Connection connection, Owner newcomer, Callback<Map<String, Object>> admitted) {
        if (!clients.isEmpty() && !owner.isSame(newcomer)) {
            admitted.failed(owner.busy(loop.nowMs()));
            return;
        }
        boolean isOther = owner != null && !owner.isSame(newcomer);
        if (!isOther) {
            if (owner == null) {
                owner = newcomer;
            }
            welcome(connection, admitted);
            return;
        }
        owner = newcomer;
        for (Tab tab : tabs.all()) {
            remove(tab);
            tab.web.close();
        }
        files.clear();
        engine.forget(new Callback<Void>() {
            @Override
            public void done(Void nothing) {
                welcome(connection, admitted);
            }

            @Override
            public void failed(Refusal why) {
                // State of the last owner would stay in force; only a new process is free of it.
                admitted.failed(why);
                shutDown(why.getMessage());
            }
        });
    }

    private void welcome(Connection connection, Callback<Map<String, Object>> admitted) {
        if (!connection.isOver()) {
            clients.add(connection);
            callbacks.clients(clients.size());
            noteChange();
        }
        Map<String, Object> fields = new LinkedHashMap<>(engine.describe());
        fields.put("api_level", identity.apiLevel);
        fields.put("pid", identity.pid);
        fields.put("devtools_socket", "webview_devtools_remote_" + identity.pid);
        fields.put("max_tabs", TabTable.MAX_TABS);
        fields.put("max_capture_height_px", Requests.MAX_CAPTURE_HEIGHT_PX);
        fields.put("idle_timeout_s", idle.idleTimeoutS);
        admitted.done(fields);
    }

    /** Removes a connection that has ended. */
    void left(Connection connection) {
        if (clients.remove(connection)) {
            callbacks.clients(clients.size());
            noteChange();
        }
    }

    void sendEvent(String name, Map<String, Object> fields) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", name);
        event.putAll(fields);
        for (Connection client : new LinkedHashSet<>(clients)) {
            client.sendEvent(event);
        }
    }

    void add(Tab tab) {
        tabs.add(tab);
        noteChange();
    }

    /** Removes a tab with its files; false if it was not there. */
    boolean remove(Tab tab) {
        if (!tabs.remove(tab)) {
            return false;
        }
        files.dropTab(tab.name);
        noteChange();
        tab.onGone.run();
        return true;
    }

    /** Computes deadlines again after tabs or clients were added or removed. */
    void noteChange() {
        if (isOver || idle == null) {
            return;
        }
        idle.setUsed(!tabs.isEmpty() || !clients.isEmpty(), loop.nowMs());
        cancelTimer.run();
        long waitMs = idle.untilNextMs(tabs.all(), loop.nowMs());
        cancelTimer = waitMs < 0 ? () -> {} : loop.postDelayed(this::checkDeadlines, waitMs);
    }

    private void checkDeadlines() {
        if (isOver) {
            return;
        }
        long nowMs = loop.nowMs();
        for (Tab tab : idle.idle(tabs.all(), nowMs)) {
            remove(tab);
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("tab", tab.name);
            fields.put("idle_s", (nowMs - tab.activeAtMs) / 1000.0);
            sendEvent("idle_destroyed", fields);
            tab.web.close();
        }
        if (idle.isUnused(nowMs)) {
            shutDown("no tabs and no clients");
        } else {
            noteChange();
        }
    }

    private void makeRoom() {
        if (endpoints.size() < MAX_ENDPOINTS) {
            return;
        }
        for (Endpoint endpoint : endpoints.values()) {
            if (endpoint.connections.isEmpty()) {
                endpoint.listener.close();
                endpoints.remove(endpoint.name);
                return;
            }
        }
    }

    private void accept(Endpoint endpoint) {
        try {
            while (true) {
                Peer peer = endpoint.listener.accept();
                if (isWelcome(peer)) {
                    loop.post(() -> greet(endpoint, peer));
                } else {
                    peer.close();
                }
            }
        } catch (IOException closed) {
            // the endpoint is closed
        }
    }

    private boolean isWelcome(Peer peer) {
        try {
            int uid = peer.uid();
            if (uid == ROOT_UID || uid == SHELL_UID) {
                return true;
            }
            callbacks.log("refused a connection from uid " + uid);
        } catch (IOException unknown) {
            callbacks.log("refused a connection from an unknown uid");
        }
        return false;
    }

    private void greet(Endpoint endpoint, Peer peer) {
        if (isOver || endpoints.get(endpoint.name) != endpoint) {
            peer.close();
            return;
        }
        Connection connection = new Connection(this, endpoint, peer);
        endpoint.connections.add(connection);
        connection.start();
    }

    private static int idleTimeout(String seconds) {
        if (seconds != null && seconds.matches("[0-9]{1,4}")) {
            int wanted = Integer.parseInt(seconds);
            if (wanted >= 1 && wanted <= 3600) {
                return wanted;
            }
        }
        return DEFAULT_IDLE_TIMEOUT_S;
    }
}
