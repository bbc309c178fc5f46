package dev.webviewbridge.host;

import android.webkit.WebSettings;
import android.webkit.WebView;
import dev.webviewbridge.host.core.UserAgent;

/** Settings as in mobile Chrome, without access to the device: no files, no content providers, no script interface. */
final class PageSettings {
    private PageSettings() {}

    static void apply(WebView view) {
        WebSettings settings = view.getSettings();
        settings.setJavaScriptEnabled(true);
        settings.setDomStorageEnabled(true);
        settings.setUseWideViewPort(true);
        settings.setLoadWithOverviewMode(true);
        settings.setBuiltInZoomControls(false);
        settings.setDisplayZoomControls(false);
        settings.setTextZoom(100); // not the font size of the phone's user
        settings.setSupportMultipleWindows(true);
        settings.setMixedContentMode(WebSettings.MIXED_CONTENT_COMPATIBILITY_MODE);
        settings.setAllowFileAccess(false);
        settings.setAllowContentAccess(false);
        settings.setGeolocationEnabled(false);
        String userAgent = settings.getUserAgentString();
        if (userAgent != null) {
            settings.setUserAgentString(UserAgent.ofMobileChrome(userAgent));
        }
        view.setRendererPriorityPolicy(WebView.RENDERER_PRIORITY_IMPORTANT, false);
    }
}
