package dev.webviewbridge.host;

import dev.webviewbridge.host.core.Callback;
import dev.webviewbridge.host.core.Refusal;
import dev.webviewbridge.host.core.WebTab;
import java.io.File;
import java.util.List;

/** A tab listener that reports the loss of a tab during its first load as a failure to open it. */
final class OpeningListener implements WebTab.Listener {
    private final WebTab.Listener listener;
    private final WebViewTab[] made;
    private final Callback<WebTab> opened;

    OpeningListener(WebTab.Listener listener, WebViewTab[] made, Callback<WebTab> opened) {
        this.listener = listener;
        this.made = made;
        this.opened = opened;
    }

    @Override
    public void lost(String reason, String message) {
        if (made[0] == null) {
            opened.failed(new Refusal("tab_failed", message));
        } else {
            listener.lost(reason, message);
        }
    }

    @Override
    public void download(String url, String mime, long lengthBytes, String disposition, String userAgent) {
        listener.download(url, mime, lengthBytes, disposition, userAgent);
    }

    @Override
    public boolean popup(String url, WebTab.PopupMaker maker) {
        return listener.popup(url, maker);
    }

    @Override
    public List<File> chooser(boolean multiple, List<String> accept) {
        return listener.chooser(multiple, accept);
    }

    @Override
    public boolean hasClient() {
        return listener.hasClient();
    }
}
