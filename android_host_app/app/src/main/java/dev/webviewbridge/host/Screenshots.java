package dev.webviewbridge.host;

import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.Color;
import android.webkit.WebView;
import dev.webviewbridge.host.core.Callback;
import dev.webviewbridge.host.core.Capture;
import dev.webviewbridge.host.core.Loop;
import dev.webviewbridge.host.core.Refusal;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Captures WebViews as PNG: draws on the main thread, compresses on another one. */
final class Screenshots {
    /** The pixels of the largest display: a bitmap of 160 MB. */
    private static final int MAX_AREA_PX = 40_000_000;

    private final Loop loop;
    private final ExecutorService compressing = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "png");
        thread.setDaemon(true);
        return thread;
    });

    Screenshots(Loop loop) {
        this.loop = loop;
    }

    /** Draws the document, of which WebView keeps all after enableSlowWholeDocumentDraw(). */
    void ofDocument(WebView view, boolean fullPage, int maxHeightPx, Callback<Capture> captured) {
        int pageHeightPx = pageHeightPx(view);
        int widthPx = Math.max(1, view.getWidth());
        int wantedPx = Math.min(fullPage ? pageHeightPx : view.getHeight(), maxHeightPx);
        int heightPx = Math.max(1, Math.min(wantedPx, MAX_AREA_PX / widthPx));
        try {
            Bitmap bitmap = Bitmap.createBitmap(widthPx, heightPx, Bitmap.Config.ARGB_8888);
            bitmap.eraseColor(Color.WHITE);
            Canvas canvas = new Canvas(bitmap);
            if (!fullPage) { // WebView draws in the document's coordinates
                canvas.translate(-view.getScrollX(), -view.getScrollY());
            }
            view.draw(canvas);
            compress(bitmap, pageHeightPx, captured);
        } catch (RuntimeException | OutOfMemoryError failed) {
            captured.failed(new Refusal("capture_failed", "the document could not be drawn: " + failed));
        }
    }

    void ofFrame(LatestFrame frame, WebView view, Callback<Capture> captured) {
        try {
            Bitmap bitmap = frame.copy();
            if (bitmap == null) {
                captured.failed(new Refusal("capture_failed", "the display has no frame yet."));
            } else {
                compress(bitmap, pageHeightPx(view), captured);
            }
        } catch (RuntimeException | OutOfMemoryError failed) {
            captured.failed(new Refusal("capture_failed", "the frame could not be read: " + failed));
        }
    }

    private void compress(Bitmap bitmap, int pageHeightPx, Callback<Capture> captured) {
        compressing.execute(() -> {
            try {
                ByteArrayOutputStream png = new ByteArrayOutputStream();
                bitmap.compress(Bitmap.CompressFormat.PNG, 100, png);
                Capture capture = new Capture(png.toByteArray(), bitmap.getWidth(), bitmap.getHeight(), pageHeightPx);
                loop.post(() -> captured.done(capture));
            } catch (RuntimeException | OutOfMemoryError failed) {
                loop.post(() -> captured.failed(
                        new Refusal("capture_failed", "the image could not be compressed: " + failed)));
            } finally {
                bitmap.recycle();
            }
        });
    }

    /** getContentHeight() is in rounded CSS pixels; the deprecated getScale() is the only source of the zoom. */
    @SuppressWarnings("deprecation")
    private static int pageHeightPx(WebView view) {
        return Math.max(view.getHeight(), (int) Math.ceil(view.getContentHeight() * (double) view.getScale()));
    }
}
