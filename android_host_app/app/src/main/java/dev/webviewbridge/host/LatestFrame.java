package dev.webviewbridge.host;

import android.graphics.Bitmap;
import android.graphics.PixelFormat;
import android.media.Image;
import android.media.ImageReader;
import android.os.Handler;
import android.os.HandlerThread;
import android.view.Surface;
import java.nio.ByteBuffer;

/** The surface of a virtual display. Acquires every image at once, or the display would stall, and keeps the last one. */
final class LatestFrame {
    /** One is kept, one is being acquired, one is being drawn. A display refuses a single-buffered surface. */
    private static final int MAX_IMAGES = 3;

    private static Handler frames;

    private final ImageReader reader;
    private Image latest;
    private boolean isClosed;

    LatestFrame(int widthPx, int heightPx) {
        reader = ImageReader.newInstance(widthPx, heightPx, PixelFormat.RGBA_8888, MAX_IMAGES);
        reader.setOnImageAvailableListener(this::take, thread());
    }

    Surface surface() {
        return reader.getSurface();
    }

    /** A copy; null before the first frame. */
    synchronized Bitmap copy() {
        if (latest == null || isClosed) {
            return null;
        }
        Image.Plane plane = latest.getPlanes()[0];
        int strideWidthPx = plane.getRowStride() / plane.getPixelStride();
        ByteBuffer pixels = plane.getBuffer();
        pixels.rewind();
        Bitmap padded = Bitmap.createBitmap(strideWidthPx, latest.getHeight(), Bitmap.Config.ARGB_8888);
        padded.copyPixelsFromBuffer(pixels);
        if (strideWidthPx == latest.getWidth()) {
            return padded;
        }
        Bitmap exact = Bitmap.createBitmap(padded, 0, 0, latest.getWidth(), latest.getHeight());
        padded.recycle();
        return exact;
    }

    synchronized void close() {
        isClosed = true;
        if (latest != null) {
            latest.close();
            latest = null;
        }
        reader.close();
    }

    private synchronized void take(ImageReader from) {
        if (isClosed) {
            return;
        }
        Image next = from.acquireLatestImage();
        if (next != null) {
            if (latest != null) {
                latest.close();
            }
            latest = next;
        }
    }

    private static synchronized Handler thread() {
        if (frames == null) {
            HandlerThread thread = new HandlerThread("frames");
            thread.start();
            frames = new Handler(thread.getLooper());
        }
        return frames;
    }
}
