package dev.webviewbridge.host.core;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Cores in a process, for the conformance suite: `java … JvmHost`, driven by lines on stdin, each answered by one.
 *
 * <p>`open HOST FOLDER` makes a core of that name, with tabs, sockets and a loop of its own; `start HOST NAME TOKEN IDLE_S` (`-` for no time)
 * answers the path of a Unix socket or `null`; `happen HOST URL WHAT` does something in the tab that shows URL; `close
 * HOST` shuts the core down. An exception on a loop ends the process, as it would end the app.
 */
public final class JvmHost {
    private static final Map<String, JvmHost> HOSTS = new HashMap<>();

    private final ThreadLoop loop = new ThreadLoop();
    private final BlankEngine engine = new BlankEngine(loop);
    private final UnixSockets sockets;
    private final HostCore core;

    private JvmHost(File folder) {
        sockets = new UnixSockets(folder);
        int pid = (int) ProcessHandle.current().pid();
        core = new HostCore(
                loop, engine, sockets, new File(folder, "files"), new HostCore.Identity("0.1.0", 36, pid),
                new HostCore.HostCallbacks() {
                    @Override
                    public void log(String text) {
                        System.err.println(text);
                    }

                    @Override
                    public void clients(int count) {}

                    @Override
                    public void stopped(String why) {
                        System.err.println("stopped: " + why);
                    }
                });
    }

    public static void main(String[] arguments) throws Exception {
        InputStreamReader input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(input);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("open")) {
                HOSTS.put(words[1], new JvmHost(new File(words[2])));
                answer("ok");
                continue;
            }
            JvmHost host = HOSTS.get(words[1]);
            if (words[0].equals("close")) {
                HOSTS.remove(words[1]);
            }
            host.loop.post(() -> answer(host.obey(words)));
        }
        System.exit(0);
    }

    private static synchronized void answer(String text) {
        System.out.println(text);
    }

    private String obey(String[] words) {
        switch (words[0]) {
            case "start":
                core.start(words[2], words[3], words[4].equals("-") ? null : words[4]);
                return String.valueOf(sockets.path(words[2]));
            case "happen":
                for (BlankEngine.BlankTab tab : engine.tabs) {
                    if (words[2].equals(tab.url())) {
                        tab.happen(words[3]);
                        return "ok";
                    }
                }
                return "no such tab";
            case "close":
                core.shutDown("the test is over");
                return "ok";
            default:
                return "unknown";
        }
    }
}
