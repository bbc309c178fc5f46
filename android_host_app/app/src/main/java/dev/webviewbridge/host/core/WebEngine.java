package dev.webviewbridge.host.core;

import java.util.Map;

/** The WebViews of the process. Called on the loop; callbacks run on the loop. */
public interface WebEngine {
    /** `webview` and `features` of the hello reply. */
    Map<String, Object> describe();

    /**
     * Opens a tab and loads `url`; done after the load. A failure leaves nothing behind. Running the result cancels the
     * operation and destroys the tab.
     */
    Runnable open(Size size, String profile, String url, WebTab.Listener listener, Callback<WebTab> opened);

    /** Routes all traffic through an HTTP proxy, or directly if `host` is null; done with the mechanism once in force. */
    void setProxy(String host, int port, Callback<String> set);

    /** Clears an owner's state: proxy, cookies, web storage, profiles. */
    void forget(Callback<Void> forgotten);

    /** Bytes on the native heap, null when unknown. */
    Long nativeBytes();
}
