package dev.webviewbridge.host.core;

/** The owner of the process and its policy: one pair, because proxy and cookies are process-wide (PROTOCOL.md §4). */
final class Owner {
    final String name;
    final String policy;
    final long sinceMs;

    Owner(String name, String policy, long sinceMs) {
        this.name = name;
        this.policy = policy;
        this.sinceMs = sinceMs;
    }

    boolean isSame(Owner other) {
        return name.equals(other.name) && policy.equals(other.policy);
    }

    Refusal busy(long nowMs) {
        return new Refusal("device_busy", "in use by " + name + ".")
                .with("owner", name)
                .with("policy", policy)
                .with("since_s", (nowMs - sinceMs) / 1000.0);
    }
}
