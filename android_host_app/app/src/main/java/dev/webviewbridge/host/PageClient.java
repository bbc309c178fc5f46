package dev.webviewbridge.host;

import android.webkit.RenderProcessGoneDetail;
import android.webkit.WebResourceRequest;
import android.webkit.WebView;
import android.webkit.WebViewClient;
import dev.webviewbridge.host.core.Navigation;

/** Handles loading, navigation and the renderer's death of one tab. */
final class PageClient extends WebViewClient {
    private final WebViewTab tab;

    PageClient(WebViewTab tab) {
        this.tab = tab;
    }

    @Override
    public void onPageFinished(WebView view, String url) {
        tab.reached(url);
    }

    /** Also called for same-document navigations, for which onPageFinished is not guaranteed. */
    @Override
    public void doUpdateVisitedHistory(WebView view, String url, boolean isReload) {
        tab.visited(url);
    }

    @Override
    public boolean shouldOverrideUrlLoading(WebView view, WebResourceRequest request) {
        return !Navigation.isAllowed(request.getUrl().getScheme());
    }

    /** Called for every WebView of the dead renderer. Returning false, or using one again, kills the process. */
    @Override
    public boolean onRenderProcessGone(WebView view, RenderProcessGoneDetail detail) {
        boolean crashed = detail.didCrash();
        tab.lose(
                crashed ? "renderer_crashed" : "renderer_killed",
                crashed ? "the renderer crashed." : "Android killed the renderer.");
        return true;
    }
}
