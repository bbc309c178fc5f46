package dev.webviewbridge.host;

import android.content.Context;
import android.view.ActionMode;
import android.webkit.WebView;

/** A WebView without text-selection toolbars, whose windows need an Activity. */
final class OffscreenWebView extends WebView {
    OffscreenWebView(Context context) {
        super(context);
        setHapticFeedbackEnabled(false);
    }

    @Override
    public ActionMode startActionMode(ActionMode.Callback callback) {
        return null;
    }

    @Override
    public ActionMode startActionMode(ActionMode.Callback callback, int type) {
        return null;
    }
}
