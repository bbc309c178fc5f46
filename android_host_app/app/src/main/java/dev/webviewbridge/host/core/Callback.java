package dev.webviewbridge.host.core;

/** Takes the outcome of something that takes a while; one of the two is called once, on the loop. */
public interface Callback<T> {
    void done(T value);

    void failed(Refusal why);
}
