package dev.webviewbridge.host.core;

/** The one thread on which all state lives: the main looper on Android, as WebView demands. */
public interface Loop {
    void post(Runnable work);

    /** Run it in so many milliseconds, unless the result is run before. */
    Runnable postDelayed(Runnable work, long delayMs);

    /** A clock that only goes forward, also while the device sleeps. */
    long nowMs();
}
