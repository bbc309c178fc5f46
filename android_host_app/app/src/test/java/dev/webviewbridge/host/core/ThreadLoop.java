package dev.webviewbridge.host.core;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** The loop of a JVM: one thread. */
final class ThreadLoop implements Loop {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread loop = new Thread(work, "loop");
        loop.setDaemon(true);
        return loop;
    });

    @Override
    public void post(Runnable work) {
        thread.execute(guarded(work));
    }

    @Override
    public Runnable postDelayed(Runnable work, long delayMs) {
        ScheduledFuture<?> planned = thread.schedule(guarded(work), delayMs, TimeUnit.MILLISECONDS);
        return () -> planned.cancel(false);
    }

    @Override
    public long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    /** What the loop lets through would be a crash on Android: it is one here. */
    private static Runnable guarded(Runnable work) {
        return () -> {
            try {
                work.run();
            } catch (Throwable error) {
                error.printStackTrace();
                Runtime.getRuntime().halt(70);
            }
        };
    }
}
