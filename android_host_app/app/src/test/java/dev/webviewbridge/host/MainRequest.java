package dev.webviewbridge.host;

import android.net.Uri;
import android.webkit.WebResourceRequest;
import java.util.Collections;
import java.util.Map;

/** A navigation of the main frame. */
final class MainRequest implements WebResourceRequest {
    private final String url;

    MainRequest(String url) {
        this.url = url;
    }

    @Override
    public Uri getUrl() {
        return Uri.parse(url);
    }

    @Override
    public boolean isForMainFrame() {
        return true;
    }

    @Override
    public boolean isRedirect() {
        return false;
    }

    @Override
    public boolean hasGesture() {
        return true;
    }

    @Override
    public String getMethod() {
        return "GET";
    }

    @Override
    public Map<String, String> getRequestHeaders() {
        return Collections.emptyMap();
    }
}
