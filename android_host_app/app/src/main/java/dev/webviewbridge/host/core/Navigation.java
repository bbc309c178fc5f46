package dev.webviewbridge.host.core;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** The schemes that a page may navigate to: the web, about:, blob: and data:; no other apps and no files. */
public final class Navigation {
    private static final Set<String> SCHEMES = new HashSet<>(Arrays.asList("http", "https", "about", "blob", "data"));

    private Navigation() {}

    /** `scheme` may be null. */
    public static boolean isAllowed(String scheme) {
        return scheme != null && SCHEMES.contains(scheme.toLowerCase(Locale.ROOT));
    }
}
