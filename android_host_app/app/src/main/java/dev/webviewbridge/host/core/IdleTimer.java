package dev.webviewbridge.host.core;

import java.util.ArrayList;
import java.util.List;

/** Computes when tabs have been idle, and the service unused, for too long (PROTOCOL.md §7). Has no clock of its own. */
final class IdleTimer {
    static final long LINGER_MS = 30_000;

    final int idleTimeoutS;
    private long unusedSinceMs;
    private boolean isUsed;

    IdleTimer(int idleTimeoutS, long nowMs) {
        this.idleTimeoutS = idleTimeoutS;
        this.unusedSinceMs = nowMs;
    }

    /** `used`: there is a tab or a client. */
    void setUsed(boolean used, long nowMs) {
        if (isUsed && !used) {
            unusedSinceMs = nowMs;
        }
        isUsed = used;
    }

    /** Milliseconds until the next deadline, -1 if there is none. */
    long untilNextMs(Iterable<Tab> tabs, long nowMs) {
        long dueMs = isUsed ? Long.MAX_VALUE : unusedSinceMs + LINGER_MS;
        for (Tab tab : tabs) {
            dueMs = Math.min(dueMs, tab.activeAtMs + idleTimeoutS * 1000L);
        }
        return dueMs == Long.MAX_VALUE ? -1 : Math.max(0, dueMs - nowMs);
    }

    List<Tab> idle(Iterable<Tab> tabs, long nowMs) {
        List<Tab> found = new ArrayList<>();
        for (Tab tab : tabs) {
            if (nowMs - tab.activeAtMs >= idleTimeoutS * 1000L) {
                found.add(tab);
            }
        }
        return found;
    }

    boolean isUnused(long nowMs) {
        return !isUsed && nowMs - unusedSinceMs >= LINGER_MS;
    }
}
