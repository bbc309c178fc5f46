package dev.webviewbridge.host.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** An error reply: a code of PROTOCOL.md §3, a message and facts. */
public final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    final String code;
    private final transient Map<String, Object> facts = new LinkedHashMap<>();

    public Refusal(String code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    Refusal with(String name, Object fact) {
        facts.put(name, fact);
        return this;
    }

    static Refusal internal(Throwable error) {
        return new Refusal("internal", error.getClass().getSimpleName() + ": " + error.getMessage());
    }

    Map<String, Object> toError() {
        Map<String, Object> error = new LinkedHashMap<>(facts);
        error.put("code", code);
        error.put("message", getMessage());
        return error;
    }
}
