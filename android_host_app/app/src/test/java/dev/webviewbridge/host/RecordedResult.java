package dev.webviewbridge.host;

import static org.robolectric.Shadows.shadowOf;

import android.webkit.JsResult;
import android.webkit.WebChromeClient;
import android.webkit.WebView;

/** The answer that the app gives to one JavaScript dialog. */
final class RecordedResult {
    private final JsResult result = new JsResult(settled -> isConfirmed = settled.getResult());
    private boolean isConfirmed;

    private RecordedResult() {}

    /** Opens a confirm or a beforeunload dialog in the page. */
    static RecordedResult of(WebView view, boolean isBeforeUnload) {
        RecordedResult recorded = new RecordedResult();
        WebChromeClient chrome = shadowOf(view).getWebChromeClient();
        if (isBeforeUnload) {
            chrome.onJsBeforeUnload(view, "https://a.example/", "", recorded.result);
        } else {
            chrome.onJsConfirm(view, "https://a.example/", "Sure?", recorded.result);
        }
        return recorded;
    }

    /** Robolectric records a cancelled result instead of passing it on. */
    String answer() {
        return isConfirmed ? "confirm" : shadowOf(result).wasCancelled() ? "cancel" : "none";
    }
}
