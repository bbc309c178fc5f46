package dev.webviewbridge.sample;

import android.app.Activity;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.webkit.WebView;
import android.webkit.WebViewClient;

/** An ordinary app with one WebView, for trying `Session.attach`: shows the address in the intent's data. */
public final class MainActivity extends Activity {
    private WebView view;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        WebView.setWebContentsDebuggingEnabled(true);
        view = new WebView(this);
        view.getSettings().setJavaScriptEnabled(true);
        view.getSettings().setDomStorageEnabled(true);
        view.setWebViewClient(new WebViewClient()); // keeps links in this view
        setContentView(view);
        show(getIntent());
    }

    @Override
    protected void onNewIntent(Intent intent) {
        super.onNewIntent(intent);
        show(intent);
    }

    @Override
    protected void onDestroy() {
        view.destroy();
        super.onDestroy();
    }

    private void show(Intent intent) {
        Uri address = intent.getData();
        boolean isWeb = address != null && ("http".equals(address.getScheme()) || "https".equals(address.getScheme()));
        view.loadUrl(isWeb ? address.toString() : "about:blank");
    }
}
