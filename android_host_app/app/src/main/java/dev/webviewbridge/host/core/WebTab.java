package dev.webviewbridge.host.core;

import java.io.File;
import java.util.List;

/** A WebView on its own display. Called on the loop; callbacks run on the loop. */
public interface WebTab {
    /** Null if unknown. */
    String url();

    /** Null if there is none. */
    String title();

    /** Destroys WebView and display; the listener is not called any more. */
    void close();

    void resize(Size size, Callback<Void> resized);

    /** Loads `url` and clears history, cache, form data and the profile's cookies and web storage. */
    void reset(String url, Callback<Void> done);

    /** Draws the document: the whole page up to a height, or the viewport. */
    void captureCanvas(boolean fullPage, int maxHeightPx, Callback<Capture> captured);

    /** The latest frame of the display. */
    void captureSurface(Callback<Capture> captured);

    /** Receives events of a tab. Called on the loop. */
    interface Listener {
        /** The tab was lost and closed; `reason` is one of `tab.lost`. */
        void lost(String reason, String message);

        void download(String url, String mime, long lengthBytes, String disposition, String userAgent);

        /** The page opens a window; `maker` creates its tab. False if too many tabs are open. */
        boolean popup(String url, PopupMaker maker);

        /** The files for a file input; empty for none. */
        List<File> chooser(boolean multiple, List<String> accept);

        /** Whether a client is connected, which may answer a dialog over CDP. */
        boolean hasClient();
    }

    /** Creates the tab of a new window synchronously. */
    interface PopupMaker {
        WebTab make(Size size, String profile, Listener listener) throws Refusal;
    }
}
