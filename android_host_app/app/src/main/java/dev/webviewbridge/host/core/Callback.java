package dev.webviewbridge.host.core;

/** Receives the outcome of an asynchronous operation: one of the two methods is called once, on the loop. */
public interface Callback<T> {
    void done(T value);

    void failed(Refusal why);
}
