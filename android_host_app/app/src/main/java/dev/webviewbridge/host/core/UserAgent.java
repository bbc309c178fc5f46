package dev.webviewbridge.host.core;

/** The user agent of mobile Chrome of the same version. */
public final class UserAgent {
    private UserAgent() {}

    /** Without "; wv" and "Version/4.0", which mark a WebView (developer.chrome.com, WebView user agent). */
    public static String ofMobileChrome(String ofWebView) {
        return ofWebView.replace("; wv)", ")").replaceFirst(" Version/4\\.0(?= Chrome/)", "");
    }
}
