package dev.webviewbridge.host;

import dev.webviewbridge.host.core.Callback;
import dev.webviewbridge.host.core.Refusal;
import java.util.concurrent.Executor;

/**
 * Routes the traffic of this process through an HTTP proxy.
 *
 * <p>Uses ProxyController if WebView has it: it survives network changes and covers loopback. Otherwise it sets system
 * properties, which Chromium reads once at its start (proxy_config_service_android.cc, FetchInitialConfig).
 */
final class ProxyOverride {
    private static final String FEATURE = "PROXY_OVERRIDE:3";
    private static final String[] SCHEMES = {"http", "https"};
    /** Chromium's rule for no implicit bypass of loopback (net/proxy_resolution/proxy_bypass_rules.h). */
    private static final String[] NO_BYPASS = {"<-loopback>"};

    private final Executor executor;
    private String mechanism = "none";
    private boolean isWebViewStarted;

    ProxyOverride(Executor executor) {
        this.executor = executor;
    }

    /** The first WebView is created next: system properties have no effect from now on. */
    void noteWebViewStarts() {
        isWebViewStarted = true;
    }

    String offered() {
        return hasController() ? "controller" : isWebViewStarted ? "none" : "properties";
    }

    void set(String host, int port, Callback<String> done) {
        if (hasController()) {
            control(host, port, done);
        } else {
            setProperties(host, port, done);
        }
    }

    private static boolean hasController() {
        return Provider.get().has(FEATURE);
    }

    private void control(String host, int port, Callback<String> done) {
        String wanted = host == null ? "none" : "controller";
        Runnable listener = () -> {
            mechanism = wanted;
            done.done(wanted);
        };
        try {
            Provider provider = Provider.get();
            isWebViewStarted = true;
            if (host == null) {
                Class<?>[] types = {Runnable.class, Executor.class};
                provider.call(provider.proxyController(), "ProxyController", "clearProxyOverride", types, listener, executor);
            } else {
                String literal = host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
                String[][] rules = {{"*", "http://" + literal + ":" + port}};
                Class<?>[] types = {String[][].class, String[].class, Runnable.class, Executor.class};
                provider.call(
                        provider.proxyController(), "ProxyController", "setProxyOverride", types,
                        rules, NO_BYPASS, listener, executor);
            }
        } catch (Exception refused) {
            done.failed(new Refusal("unsupported", "WebView's proxy controller refused: " + refused));
        }
    }

    private void setProperties(String host, int port, Callback<String> done) {
        if (host == null && mechanism.equals("none")) {
            done.done("none");
            return;
        }
        if (isWebViewStarted) {
            done.failed(new Refusal(
                    "unsupported",
                    "this WebView reads its proxy only at its start: restart the host app."));
            return;
        }
        for (String scheme : SCHEMES) {
            if (host == null) {
                System.clearProperty(scheme + ".proxyHost");
                System.clearProperty(scheme + ".proxyPort");
            } else {
                System.setProperty(scheme + ".proxyHost", host);
                System.setProperty(scheme + ".proxyPort", Integer.toString(port)); // the default would be 80
            }
        }
        mechanism = host == null ? "none" : "properties";
        done.done(mechanism);
    }
}
