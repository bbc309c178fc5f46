package dev.webviewbridge.host;

import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.webkit.CookieManager;
import android.webkit.WebView;
import dev.webviewbridge.host.core.Callback;
import dev.webviewbridge.host.core.Capture;
import dev.webviewbridge.host.core.Refusal;
import dev.webviewbridge.host.core.Size;
import dev.webviewbridge.host.core.WebTab;
import java.io.File;
import java.util.Collections;
import java.util.List;

/** A WebView in its own window. */
final class WebViewTab implements WebTab {
    private static final String BLANK = "about:blank";
    private static final long DIALOG_HOLD_MS = 5_000;

    private static final Handler mainThread = new Handler(Looper.getMainLooper());

    private final Context context;
    private final Screenshots screenshots;
    private final Listener listener;
    private final TabWindow window;
    private final WebView view;
    private final String profile;
    private Size size;
    private String awaited;
    private Runnable arrived;
    private boolean isReset;
    private boolean isClosed;

    WebViewTab(Context context, Screenshots screenshots, Size size, String profile, Listener listener) throws Refusal {
        this.context = context;
        this.screenshots = screenshots;
        this.size = size;
        this.profile = profile;
        this.listener = listener;
        this.window = new TabWindow(context, size);
        WebView made = null;
        try {
            made = new OffscreenWebView(window.context());
            if (profile != null) {
                Profiles.assign(made, profile);
            }
            PageSettings.apply(made);
            Profiles.cookies(profile).setAcceptThirdPartyCookies(made, true); // as in mobile Chrome
            made.setWebViewClient(new PageClient(this));
            made.setWebChromeClient(new PageChrome(this));
            made.setDownloadListener((url, userAgent, disposition, mime, lengthBytes) -> {
                if (!isClosed) {
                    listener.download(url, mime, lengthBytes, disposition, userAgent);
                }
            });
            window.put(made, size);
        } catch (Refusal | RuntimeException failed) { // such as MissingWebViewPackageException
            if (made != null) {
                made.destroy();
            }
            window.close();
            throw failed instanceof Refusal
                    ? (Refusal) failed
                    : new Refusal("tab_failed", "Android did not create a WebView: " + failed);
        }
        this.view = made;
    }

    WebView view() {
        return view;
    }

    /** Loads the URL; `loaded` runs after it, unless the tab is closed first. */
    void load(String url, Runnable loaded) {
        awaited = url;
        arrived = loaded;
        view.loadUrl(url);
    }

    @Override
    public String url() {
        return view.getUrl();
    }

    @Override
    public String title() {
        return view.getTitle();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        CookieManager cookies = Profiles.cookies(profile);
        window.close();
        view.destroy();
        cookies.flush(); // a WebView update may kill the process at any time
    }

    @Override
    public void resize(Size size, Callback<Void> resized) {
        window.resize(size);
        this.size = size;
        resized.done(null);
    }

    /**
     * Loads about:blank without a fragment first: a change of the fragment alone keeps the document. Done when the new
     * document is loaded and the cookies are cleared.
     */
    @Override
    public void reset(String url, Callback<Void> done) {
        CookieManager cookies = Profiles.cookies(profile);
        view.stopLoading();
        load(BLANK, () -> {
            isReset = true;
            load(url, () -> {
                isReset = false;
                view.clearHistory();
                view.clearCache(true);
                view.clearFormData();
                Profiles.storage(profile).deleteAllData();
                cookies.removeAllCookies(removed -> {
                    if (isClosed) {
                        done.failed(new Refusal("tab_failed", "the tab was closed during its reset."));
                    } else {
                        done.done(null);
                    }
                });
            });
        });
    }

    @Override
    public void captureCanvas(boolean fullPage, int maxHeightPx, Callback<Capture> captured) {
        screenshots.ofDocument(view, fullPage, fullPage ? maxHeightPx : size.heightPx, captured);
    }

    @Override
    public void captureSurface(Callback<Capture> captured) {
        screenshots.ofFrame(window.latestFrame(), view, captured);
    }

    /** Handles the end of a load. */
    void reached(String url) {
        if (awaited != null && awaited.equals(url)) {
            Runnable next = arrived;
            awaited = null;
            arrived = null;
            next.run();
        }
    }

    /** Handles a change of the URL, possibly without a load. */
    void visited(String url) {
        if (isReset) {
            reached(url);
        }
    }

    void lose(String reason, String message) {
        if (!isClosed) {
            listener.lost(reason, message);
            close();
        }
    }

    /** The WebView for a window that the page opens; null if too many tabs are open. */
    WebView openWindow() {
        WebView[] opened = {null};
        if (!isClosed) {
            listener.popup(null, (size, profile, listener) -> {
                WebViewTab tab = new WebViewTab(context, screenshots, size, profile, listener);
                opened[0] = tab.view();
                return tab;
            });
        }
        return opened[0];
    }

    /**
     * Answers a JavaScript dialog. Chromium shows it to CDP clients too, and the first answer wins: while a client is
     * connected, the app waits (WebContentsImpl::RunJavaScriptDialog). The app's own loads must not wait.
     */
    void answerDialog(Runnable answer) {
        if (isClosed || awaited != null || !listener.hasClient()) {
            answer.run();
        } else {
            mainThread.postDelayed(answer, DIALOG_HOLD_MS);
        }
    }

    List<File> chooseFiles(boolean multiple, List<String> accept) {
        return isClosed ? Collections.emptyList() : listener.chooser(multiple, accept);
    }
}
