package dev.webviewbridge.host;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import dev.webviewbridge.host.core.Loop;

/** The main thread, on which WebView wants to be called. */
final class MainLoop implements Loop {
    private final Handler handler = new Handler(Looper.getMainLooper());

    @Override
    public void post(Runnable work) {
        handler.post(work);
    }

    @Override
    public Runnable postDelayed(Runnable work, long delayMs) {
        Runnable own = work::run; // removed by identity, so each call needs one of its own
        handler.postDelayed(own, delayMs);
        return () -> handler.removeCallbacks(own);
    }

    /** Counts deep sleep too, which the handler's delays do not: what is due then runs at the next wake-up. */
    @Override
    public long nowMs() {
        return SystemClock.elapsedRealtime();
    }
}
