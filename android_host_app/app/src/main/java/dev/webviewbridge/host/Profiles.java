package dev.webviewbridge.host;

import android.webkit.CookieManager;
import android.webkit.WebStorage;
import android.webkit.WebView;
import dev.webviewbridge.host.core.Refusal;
import java.lang.reflect.InvocationHandler;
import java.util.List;

/** WebView's profiles (MULTI_PROFILE): cookies, storage and a renderer of their own. */
final class Profiles {
    private static final String FEATURE = "MULTI_PROFILE";
    private static final String DEFAULT = "Default"; // androidx.webkit.Profile.DEFAULT_PROFILE_NAME

    private Profiles() {}

    static boolean areSupported() {
        return Provider.get().has(FEATURE);
    }

    /** Must be the first call on the view. */
    static void assign(WebView view, String profile) throws Refusal {
        if (!areSupported()) {
            throw new Refusal("unsupported", "this WebView does not support profiles (MULTI_PROFILE); a newer one does.");
        }
        try {
            Provider provider = Provider.get();
            provider.call(provider.webView(view), "WebViewProvider", "setProfile", String.class, profile);
        } catch (Exception refused) {
            throw new Refusal("tab_failed", "WebView refused the profile " + profile + ": " + refused);
        }
    }

    /** The cookies of that profile; of the default one when it is null. */
    static CookieManager cookies(String profile) {
        Object found = profile == null ? null : ask(profile, "getCookieManager");
        return found == null ? CookieManager.getInstance() : (CookieManager) found;
    }

    static WebStorage storage(String profile) {
        Object found = profile == null ? null : ask(profile, "getWebStorage");
        return found == null ? WebStorage.getInstance() : (WebStorage) found;
    }

    /** Deletes all profiles except the default one, or clears one that is in use. */
    static void deleteAll() {
        if (!areSupported()) {
            return;
        }
        try {
            Provider provider = Provider.get();
            InvocationHandler store = provider.profileStore();
            for (Object name : (List<?>) provider.call(store, "ProfileStore", "getAllProfileNames")) {
                if (!DEFAULT.equals(name)) {
                    delete(provider, store, (String) name);
                }
            }
        } catch (Exception refused) {
            throw new IllegalStateException("WebView's profiles cannot be listed", refused);
        }
    }

    private static void delete(Provider provider, InvocationHandler store, String name) {
        try {
            provider.call(store, "ProfileStore", "deleteProfile", String.class, name);
        } catch (Exception inUse) {
            cookies(name).removeAllCookies(null);
            storage(name).deleteAllData();
        }
    }

    private static Object ask(String profile, String question) {
        try {
            Provider provider = Provider.get();
            InvocationHandler store = provider.profileStore();
            Object found = provider.call(store, "ProfileStore", "getOrCreateProfile", String.class, profile);
            return provider.call((InvocationHandler) found, "Profile", question);
        } catch (Exception refused) {
            throw new IllegalStateException("WebView's profile " + profile + " does not respond", refused);
        }
    }
}
