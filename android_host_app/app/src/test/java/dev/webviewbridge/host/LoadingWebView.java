package dev.webviewbridge.host;

import android.os.Handler;
import android.os.Looper;
import android.webkit.WebView;
import java.util.ArrayList;
import java.util.List;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadows.ShadowWebView;

/** Robolectric's WebView with what the host app relies on: a page that is loaded is finished some time later. */
@Implements(WebView.class)
public final class LoadingWebView extends ShadowWebView {
    static final List<String> calls = new ArrayList<>();
    static final List<WebView> made = new ArrayList<>();
    static int destroyed;

    @RealObject private WebView view;

    @Implementation
    @Override
    protected void loadUrl(String url) {
        super.loadUrl(url);
        if (!made.contains(view)) {
            made.add(view);
            calls.add("first load");
        }
        new Handler(Looper.getMainLooper()).post(() -> getWebViewClient().onPageFinished(view, url));
    }

    @Implementation
    public static void setWebContentsDebuggingEnabled(boolean enabled) {
        calls.add("debugging " + enabled);
    }

    @Implementation
    protected static void enableSlowWholeDocumentDraw() {
        calls.add("whole document draw");
    }

    @Implementation
    @Override
    protected void destroy() {
        destroyed++;
        super.destroy();
    }
}
