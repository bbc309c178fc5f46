package dev.webviewbridge.host.core;

import java.util.Map;

/** What the core needs of WebView as a whole. Called on the loop, and answers there. */
public interface WebEngine {
    /** `webview` and `features` of the hello reply. */
    Map<String, Object> describe();

    /**
     * Make a tab and load `url`; done when it has loaded. Whatever fails, nothing of the tab is left. The
     * result gives up waiting, and destroys what has been made.
     */
    Runnable open(Size size, String profile, String url, WebTab.Listener listener, Callback<WebTab> opened);

    /** All traffic to that HTTP proxy, directly when `host` is null; done with the mechanism when it is in force. */
    void setProxy(String host, int port, Callback<String> set);

    /** Clear what an owner leaves behind in the process: proxy, cookies, web storage, profiles. */
    void forget(Callback<Void> forgotten);

    /** Bytes on the native heap, null when unknown. */
    Long nativeBytes();
}
