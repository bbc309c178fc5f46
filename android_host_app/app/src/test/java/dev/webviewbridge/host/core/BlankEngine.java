package dev.webviewbridge.host.core;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.imageio.ImageIO;

/** A WebView for the core on a JVM: tabs show about:blank and are drawn white; `Desk` makes things happen in them. */
final class BlankEngine implements WebEngine {
    private static final long OPENING_MS = 50; // a WebView takes a while too

    private final Loop loop;
    private final ExecutorService painter = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "painter");
        thread.setDaemon(true);
        return thread;
    });
    final List<BlankTab> tabs = new ArrayList<>();

    BlankEngine(Loop loop) {
        this.loop = loop;
    }

    @Override
    public Map<String, Object> describe() {
        Map<String, Object> webview = new LinkedHashMap<>();
        webview.put("package", null);
        webview.put("version_name", null);
        webview.put("version_code", null);
        Map<String, Object> features = new LinkedHashMap<>();
        features.put("profiles", true);
        features.put("proxy", "controller");
        features.put("capture", Arrays.<Object>asList("canvas", "surface"));
        features.put("resize", true);
        Map<String, Object> description = new LinkedHashMap<>();
        description.put("webview", webview);
        description.put("features", features);
        return description;
    }

    @Override
    public Runnable open(Size size, String profile, String url, WebTab.Listener listener, Callback<WebTab> opened) {
        BlankTab tab = new BlankTab(size, url, listener);
        loop.postDelayed(() -> {
            tabs.add(tab);
            opened.done(tab);
        }, OPENING_MS);
        return tab::close;
    }

    @Override
    public void setProxy(String host, int port, Callback<String> set) {
        loop.post(() -> set.done(host == null ? "none" : "controller"));
    }

    @Override
    public void forget(Callback<Void> forgotten) {
        loop.post(() -> forgotten.done(null));
    }

    @Override
    public Long nativeBytes() {
        return null;
    }

    final class BlankTab implements WebTab {
        private Size size;
        private String url;
        private final Listener listener;

        BlankTab(Size size, String url, Listener listener) {
            this.size = size;
            this.url = url;
            this.listener = listener;
        }

        @Override
        public String url() {
            return url;
        }

        @Override
        public String title() {
            return "\uD800 a title with a lone surrogate";
        }

        @Override
        public void close() {
            tabs.remove(this);
        }

        @Override
        public void resize(Size size, Callback<Void> resized) {
            this.size = size;
            loop.post(() -> resized.done(null));
        }

        @Override
        public void reset(String url, Callback<Void> done) {
            this.url = url;
            loop.post(() -> done.done(null));
        }

        @Override
        public void captureCanvas(boolean fullPage, int maxHeightPx, Callback<Capture> captured) {
            paint(size.widthPx, Math.min(size.heightPx, fullPage ? maxHeightPx : size.heightPx), captured);
        }

        @Override
        public void captureSurface(Callback<Capture> captured) {
            paint(size.widthPx, size.heightPx, captured);
        }

        private void paint(int widthPx, int heightPx, Callback<Capture> captured) {
            int pageHeightPx = size.heightPx;
            painter.execute(() -> {
                BufferedImage image = new BufferedImage(widthPx, heightPx, BufferedImage.TYPE_INT_RGB);
                Graphics2D graphics = image.createGraphics();
                graphics.setColor(Color.WHITE);
                graphics.fillRect(0, 0, widthPx, heightPx);
                ByteArrayOutputStream png = new ByteArrayOutputStream();
                try {
                    ImageIO.write(image, "png", png);
                } catch (IOException impossible) {
                    throw new IllegalStateException(impossible);
                }
                loop.post(() -> captured.done(new Capture(png.toByteArray(), widthPx, heightPx, pageHeightPx)));
            });
        }

        /** What a page or a renderer does; the words are those of the conformance suite. */
        void happen(String what) {
            switch (what) {
                case "crash":
                    for (BlankTab tab : new ArrayList<>(tabs)) { // one renderer for all tabs
                        tab.close();
                        tab.listener.lost("renderer_crashed", "the renderer crashed.");
                    }
                    break;
                case "close":
                    close();
                    listener.lost("closed_by_page", "the page closed its window.");
                    break;
                case "download":
                    listener.download("http://x.test/a.bin", "application/octet-stream", -1, "attachment", "JVM");
                    break;
                case "popup":
                    listener.popup(null, (size, profile, popup) -> {
                        BlankTab opened = new BlankTab(size, "about:blank", popup);
                        tabs.add(opened);
                        return opened;
                    });
                    break;
                case "choose":
                    List<File> chosen = listener.chooser(true, Collections.singletonList("text/plain"));
                    for (File file : chosen) {
                        if (!file.isFile()) {
                            throw new IllegalStateException("staged and not there: " + file);
                        }
                    }
                    break;
                default:
                    throw new IllegalArgumentException(what);
            }
        }
    }
}
