package dev.webviewbridge.host.core;

/** A tab as the protocol names it. */
final class Tab {
    final String name;
    final String profile;
    final String opener;
    final Turn turn = new Turn();
    WebTab web;
    Size size;
    /** Null for a popup. */
    String nonce;
    long activeAtMs;
    /** What the request that is being served gets for an answer when the tab goes meanwhile. */
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
