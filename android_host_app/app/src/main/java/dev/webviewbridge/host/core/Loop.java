package dev.webviewbridge.host.core;

/** The thread to which all state is confined: the main looper on Android, as WebView requires. */
public interface Loop {
    void post(Runnable work);

    /** Runs the work after the delay, unless the result is run first. */
    Runnable postDelayed(Runnable work, long delayMs);

    /** A monotonic clock that includes deep sleep. */
    long nowMs();
}
