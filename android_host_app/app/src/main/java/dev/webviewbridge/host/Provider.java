package dev.webviewbridge.host;

import android.os.Build;
import android.webkit.WebView;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * The interface behind androidx.webkit, called without androidx.
 *
 * <p>Chromium, android_webview/support_library/boundary_interfaces: each object that crosses the boundary is an
 * InvocationHandler, which finds the method by its declaring class's name; those names are kept in every WebView.
 */
final class Provider {
    private static final String BOUNDARY = "org.chromium.support_lib_boundary.";

    private static Provider instance;

    private final ClassLoader loader;
    private final InvocationHandler factory;
    private final Set<String> features;

    private Provider(ClassLoader loader, InvocationHandler factory, Set<String> features) {
        this.loader = loader;
        this.factory = factory;
        this.features = features;
    }

    /** The loaded WebView's provider; one without features if WebView has no such interface. */
    static Provider get() {
        if (instance == null) {
            Provider found = load();
            if (found.factory == null) {
                return found; // WebView may be being updated: look again next time
            }
            instance = found;
        }
        return instance;
    }

    private static Provider load() {
        try {
            ClassLoader loader = Build.VERSION.SDK_INT >= 28 ? Api28.webViewClassLoader() : loaderBefore28();
            Method create = Class.forName("org.chromium.support_lib_glue.SupportLibReflectionUtil", false, loader)
                    .getDeclaredMethod("createWebViewProviderFactory");
            InvocationHandler factory = (InvocationHandler) create.invoke(null);
            Provider bare = new Provider(loader, factory, Collections.emptySet());
            String[] features = (String[]) bare.call(factory, "WebViewProviderFactory", "getSupportedFeatures");
            return new Provider(loader, factory, new HashSet<>(Arrays.asList(features)));
        } catch (Exception | LinkageError none) {
            return new Provider(null, null, Collections.emptySet());
        }
    }

    /** WebView.getFactory() is hidden, and not yet restricted on API 26 and 27 (androidx WebViewGlueCommunicator). */
    private static ClassLoader loaderBefore28() throws ReflectiveOperationException {
        Method getFactory = WebView.class.getDeclaredMethod("getFactory");
        getFactory.setAccessible(true);
        return getFactory.invoke(null).getClass().getClassLoader();
    }

    boolean has(String feature) {
        return features.contains(feature);
    }

    InvocationHandler proxyController() throws Exception {
        return (InvocationHandler) call(factory, "WebViewProviderFactory", "getProxyController");
    }

    InvocationHandler profileStore() throws Exception {
        return (InvocationHandler) call(factory, "WebViewProviderFactory", "getProfileStore");
    }

    InvocationHandler webView(WebView view) throws Exception {
        return (InvocationHandler) call(factory, "WebViewProviderFactory", "createWebView", WebView.class, view);
    }

    Object call(InvocationHandler on, String type, String name) throws Exception {
        return call(on, type, name, new Class<?>[0]);
    }

    Object call(InvocationHandler on, String type, String name, Class<?> parameter, Object argument) throws Exception {
        return call(on, type, name, new Class<?>[] {parameter}, argument);
    }

    Object call(InvocationHandler on, String type, String name, Class<?>[] parameters, Object... arguments)
            throws Exception {
        Class<?> boundary = Class.forName(BOUNDARY + type + "BoundaryInterface", false, loader);
        try {
            return on.invoke(null, boundary.getDeclaredMethod(name, parameters), arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause() instanceof Exception ? (Exception) thrown.getCause() : thrown;
        } catch (Exception | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
