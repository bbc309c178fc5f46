package dev.webviewbridge.host.core;

import java.io.File;
import java.util.List;

/** A WebView on a display of its own, as the core sees it. Called on the loop, and answers there. */
public interface WebTab {
    /** Null when it is not known. */
    String url();

    /** Null when there is none. */
    String title();

    /** Destroys WebView and display; the listener hears nothing further. */
    void close();

    void resize(Size size, Callback<Void> resized);

    /** Load `url` and forget what was before: history, cache, form data, the profile's cookies and web storage. */
    void reset(String url, Callback<Void> done);

    /** The document as it is drawn: the whole page up to so many pixels, or what is visible. */
    void captureCanvas(boolean fullPage, int maxHeightPx, Callback<Capture> captured);

    /** The latest frame of the display. */
    void captureSurface(Callback<Capture> captured);

    /** What happens in a tab without having been asked for. Called on the loop. */
    interface Listener {
        /** The tab is gone; `reason` is one of `tab.lost`. The engine has closed it. */
        void lost(String reason, String message);

        void download(String url, String mime, long lengthBytes, String disposition, String userAgent);

        /** The page opens a window: a listener for the tab that `maker` makes, or false when there is no room. */
        boolean popup(String url, PopupMaker maker);

        /** The files that a file input gets; empty for none. */
        List<File> chooser(boolean multiple, List<String> accept);
    }

    /** Makes the tab of a new window at once. */
    interface PopupMaker {
        WebTab make(Size size, String profile, Listener listener) throws Refusal;
    }
}
