package dev.webviewbridge.host;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.os.Debug;
import android.webkit.CookieManager;
import android.webkit.WebStorage;
import android.webkit.WebView;
import dev.webviewbridge.host.core.Callback;
import dev.webviewbridge.host.core.Refusal;
import dev.webviewbridge.host.core.Size;
import dev.webviewbridge.host.core.WebEngine;
import dev.webviewbridge.host.core.WebTab;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The WebViews of this process. */
final class WebViewEngine implements WebEngine {
    private final Context context;
    private final MainLoop loop = new MainLoop();
    private final Screenshots screenshots = new Screenshots(loop);
    private final ProxyOverride proxy = new ProxyOverride(loop::post);
    private boolean isPrepared;

    WebViewEngine(Context context) {
        this.context = context;
    }

    @Override
    public Map<String, Object> describe() {
        PackageInfo installed = WebView.getCurrentWebViewPackage();
        Map<String, Object> webview = new LinkedHashMap<>();
        webview.put("package", installed == null ? null : installed.packageName);
        webview.put("version_name", installed == null ? null : installed.versionName);
        webview.put("version_code", installed == null ? null : versionCode(installed));
        Map<String, Object> features = new LinkedHashMap<>();
        features.put("profiles", Profiles.areSupported());
        features.put("proxy", proxy.offered());
        features.put("capture", Arrays.<Object>asList("canvas", "surface"));
        features.put("resize", true);
        Map<String, Object> description = new LinkedHashMap<>();
        description.put("webview", webview);
        description.put("features", features);
        return description;
    }

    @Override
    public Runnable open(Size size, String profile, String url, WebTab.Listener listener, Callback<WebTab> opened) {
        try {
            prepare();
            WebViewTab[] made = {null};
            WebTab.Listener early = new OpeningListener(listener, made, opened);
            WebViewTab tab = new WebViewTab(context, screenshots, size, profile, early);
            tab.load(url, () -> {
                made[0] = tab;
                opened.done(tab);
            });
            return tab::close;
        } catch (Refusal why) {
            opened.failed(why);
            return () -> {};
        }
    }

    @Override
    public void setProxy(String host, int port, Callback<String> set) {
        proxy.set(host, port, set);
    }

    @Override
    public void forget(Callback<Void> forgotten) {
        proxy.set(null, 0, new Callback<String>() {
            @Override
            public void done(String mechanism) {
                if (!isPrepared) { // no WebView has run, so this process has stored nothing
                    forgotten.done(null);
                    return;
                }
                try {
                    Profiles.deleteAll();
                    WebStorage.getInstance().deleteAllData();
                    CookieManager.getInstance().removeAllCookies(removed -> forgotten.done(null));
                } catch (RuntimeException error) {
                    forgotten.failed(new Refusal("internal", "could not clear the last owner's data: " + error));
                }
            }

            @Override
            public void failed(Refusal why) {
                forgotten.failed(why);
            }
        });
    }

    @Override
    public Long nativeBytes() {
        return Debug.getNativeHeapAllocatedSize();
    }

    /** Settings that must precede the first WebView. */
    private void prepare() {
        if (!isPrepared) {
            isPrepared = true;
            proxy.noteWebViewStarts();
            WebView.enableSlowWholeDocumentDraw();
            WebView.setWebContentsDebuggingEnabled(true);
        }
    }

    /** getLongVersionCode() needs API 28; its low half is the version code of WebView. */
    @SuppressWarnings("deprecation")
    private static Long versionCode(PackageInfo installed) {
        return (long) installed.versionCode;
    }
}
