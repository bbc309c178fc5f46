package dev.webviewbridge.host;

import android.annotation.TargetApi;
import android.webkit.WebView;

/** What came with Android 9; loaded only behind a version check. */
@TargetApi(28)
final class Api28 {
    private Api28() {}

    static ClassLoader webViewClassLoader() {
        return WebView.getWebViewClassLoader();
    }
}
