package dev.webviewbridge.host;

import android.net.Uri;
import android.os.Message;
import android.webkit.GeolocationPermissions;
import android.webkit.JsPromptResult;
import android.webkit.JsResult;
import android.webkit.ValueCallback;
import android.webkit.WebChromeClient;
import android.webkit.WebView;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Handles requests for windows and dialogs, which a WebView without an Activity cannot show. */
final class PageChrome extends WebChromeClient {
    private final WebViewTab tab;

    PageChrome(WebViewTab tab) {
        this.tab = tab;
    }

    @Override
    public boolean onCreateWindow(WebView view, boolean isDialog, boolean isUserGesture, Message result) {
        WebView opened = tab.openWindow();
        if (opened == null) {
            return false;
        }
        ((WebView.WebViewTransport) result.obj).setWebView(opened);
        result.sendToTarget();
        return true;
    }

    @Override
    public void onCloseWindow(WebView window) {
        tab.lose("closed_by_page", "the page closed its window.");
    }

    @Override
    public boolean onShowFileChooser(WebView view, ValueCallback<Uri[]> answer, FileChooserParams params) {
        List<String> accept = new ArrayList<>();
        for (String type : params.getAcceptTypes()) {
            if (!type.isEmpty()) {
                accept.add(type);
            }
        }
        List<File> files = tab.chooseFiles(params.getMode() == FileChooserParams.MODE_OPEN_MULTIPLE, accept);
        Uri[] uris = new Uri[files.size()];
        for (int i = 0; i < uris.length; i++) {
            uris[i] = Uri.fromFile(files.get(i));
        }
        answer.onReceiveValue(uris.length == 0 ? null : uris);
        return true;
    }

    @Override
    public boolean onJsAlert(WebView view, String url, String message, JsResult result) {
        tab.answerDialog(result::cancel);
        return true;
    }

    @Override
    public boolean onJsConfirm(WebView view, String url, String message, JsResult result) {
        tab.answerDialog(result::cancel);
        return true;
    }

    @Override
    public boolean onJsPrompt(WebView view, String url, String message, String otherwise, JsPromptResult result) {
        tab.answerDialog(result::cancel);
        return true;
    }

    @Override
    public boolean onJsBeforeUnload(WebView view, String url, String message, JsResult result) {
        tab.answerDialog(result::confirm);
        return true;
    }

    @Override
    public void onGeolocationPermissionsShowPrompt(String origin, GeolocationPermissions.Callback answer) {
        answer.invoke(origin, false, false);
    }
}
