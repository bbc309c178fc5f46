package dev.webviewbridge.host.core;

/** The size of a tab's display, in physical pixels and dots per inch. */
public final class Size {
    public final int widthPx;
    public final int heightPx;
    public final int densityDpi;

    public Size(int widthPx, int heightPx, int densityDpi) {
        this.widthPx = widthPx;
        this.heightPx = heightPx;
        this.densityDpi = densityDpi;
    }
}
