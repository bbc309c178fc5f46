package dev.webviewbridge.host.core;

/** A screenshot of a tab. */
public final class Capture {
    public final byte[] png;
    public final int widthPx;
    public final int heightPx;
    public final int pageHeightPx;

    public Capture(byte[] png, int widthPx, int heightPx, int pageHeightPx) {
        this.png = png;
        this.widthPx = widthPx;
        this.heightPx = heightPx;
        this.pageHeightPx = pageHeightPx;
    }
}
