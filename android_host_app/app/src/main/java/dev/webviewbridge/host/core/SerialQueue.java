package dev.webviewbridge.host.core;

import java.util.ArrayDeque;

/** Runs asynchronous work in order: the next item starts after the previous one has called `done`. */
final class SerialQueue {
    private final ArrayDeque<Work> waiting = new ArrayDeque<>();
    private boolean busy;
    private boolean pumping;

    /** Asynchronous work, which calls `done` once. */
    interface Work {
        void run(Runnable done);
    }

    void add(Work work) {
        waiting.add(work);
        pump();
    }

    private void pump() {
        if (pumping) {
            return; // work that completes synchronously must not recurse
        }
        pumping = true;
        try {
            while (!busy && !waiting.isEmpty()) {
                busy = true;
                waiting.remove().run(this::done);
            }
        } finally {
            pumping = false;
        }
    }

    private void done() {
        busy = false;
        pump();
    }
}
