package dev.webviewbridge.host.core;

/** A tab with its name in the protocol. */
final class Tab {
    final String name;
    final String profile;
    final String opener;
    final SerialQueue queue = new SerialQueue();
    WebTab web;
    Size size;
    /** Null for a popup. */
    String nonce;
    long activeAtMs;
    /** Replies to the pending request if the tab is closed before it completes. */
    Runnable onGone = () -> {};

    Tab(String name, Size size, String profile, String opener, String nonce, long nowMs) {
        this.name = name;
        this.size = size;
        this.profile = profile;
        this.opener = opener;
        this.nonce = nonce;
        this.activeAtMs = nowMs;
    }
}
