package dev.webviewbridge.host.core;

import java.util.ArrayDeque;

/** Keeps work in order: the next piece starts when the one before has said that it is done. */
final class Turn {
    private final ArrayDeque<Work> waiting = new ArrayDeque<>();
    private boolean busy;
    private boolean pumping;

    /** Calls `done` once, now or later. */
    interface Work {
        void run(Runnable done);
    }

    void take(Work work) {
        waiting.add(work);
        pump();
    }

    private void pump() {
        if (pumping) {
            return; // work that is done at once must not go deeper into the stack with every piece
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
