package dev.webviewbridge.host;

import android.annotation.TargetApi;
import android.webkit.WebView;

/** Calls of API 28; loaded only after a version check. */
@TargetApi(28)
final class Api28 {
    private Api28() {}

    static ClassLoader webViewClassLoader() {
        return WebView.getWebViewClassLoader();
    }
}
