package dev.webviewbridge.host;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import dev.webviewbridge.host.core.Loop;

/** The main thread, on which WebView must be called. */
final class MainLoop implements Loop {
    private final Handler handler = new Handler(Looper.getMainLooper());

    @Override
    public void post(Runnable work) {
        handler.post(work);
    }

    @Override
    public Runnable postDelayed(Runnable work, long delayMs) {
        Runnable own = work::run; // removed by identity, so each call needs its own object
        handler.postDelayed(own, delayMs);
        return () -> handler.removeCallbacks(own);
    }

    /** Includes deep sleep, unlike the handler's delays: work that became due runs at the next wake-up. */
    @Override
    public long nowMs() {
        return SystemClock.elapsedRealtime();
    }
}
