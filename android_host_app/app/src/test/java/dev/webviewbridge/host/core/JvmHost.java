package dev.webviewbridge.host.core;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.List;

/**
 * The core as a process, for the conformance suite: `java … JvmHost FOLDER`, driven by lines on stdin.
 *
 * <p>`start NAME TOKEN IDLE_S` (`-` for no time) answers `PATH` of a Unix socket or `-`; `uid N` sets what peers are taken for; `happen URL
 * WHAT` does something in the tab that shows URL. The process ends with its core or with its stdin.
 */
public final class JvmHost {
    private JvmHost() {}

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        ThreadLoop loop = new ThreadLoop();
        BlankEngine engine = new BlankEngine(loop);
        UnixSockets sockets = new UnixSockets(folder);
        HostCore.Identity identity =
                new HostCore.Identity("0.1.0", 36, (int) ProcessHandle.current().pid());
        HostCore core = new HostCore(
                loop, engine, sockets, new File(folder, "files"), identity, new HostCore.Surroundings() {
                    @Override
                    public void log(String text) {
                        System.err.println(text);
                    }

                    @Override
                    public void clients(int count) {}

                    @Override
                    public void stopped(String why) {
                        System.err.println("stopped: " + why);
                        // What is still to be written goes out first: a service's process lives on for a moment too.
                        loop.postDelayed(() -> System.exit(0), 500);
                    }
                });
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            loop.post(() -> System.out.println(answer(words, core, engine, sockets)));
        }
        System.exit(0);
    }

    private static String answer(String[] words, HostCore core, BlankEngine engine, UnixSockets sockets) {
        switch (words[0]) {
            case "start":
                core.start(words[1], words[2], words[3].equals("-") ? null : words[3]);
                return String.valueOf(sockets.path(words[1]));
            case "uid":
                sockets.uid = Integer.parseInt(words[1]);
                return "ok";
            case "happen":
                List<BlankEngine.BlankTab> tabs = engine.tabs;
                for (BlankEngine.BlankTab tab : tabs) {
                    if (words[1].equals(tab.url())) {
                        tab.happen(words[2]);
                        return "ok";
                    }
                }
                return "no such tab";
            default:
                return "unknown";
        }
    }
}
