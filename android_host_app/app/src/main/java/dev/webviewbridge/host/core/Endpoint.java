package dev.webviewbridge.host.core;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;

/** A socket name and its token. */
final class Endpoint {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,100}");

    final String name;
    final byte[] token;
    final Sockets.Listener listener;
    /** Including those before their handshake. */
    final Set<Connection> connections = new LinkedHashSet<>();

    Endpoint(String name, byte[] token, Sockets.Listener listener) {
        this.name = name;
        this.token = token;
        this.listener = listener;
    }

    static boolean isUsable(String name, String tokenHex) {
        return name != null && NAME.matcher(name).matches() && Hex.isHex(tokenHex, 64);
    }
}
