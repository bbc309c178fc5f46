package dev.webviewbridge.host;

import android.app.Presentation;
import android.content.Context;
import android.hardware.display.DisplayManager;
import android.hardware.display.VirtualDisplay;
import android.os.Bundle;
import android.view.View;
import android.view.ViewGroup;
import android.view.Window;
import android.view.WindowManager;
import android.widget.FrameLayout;
import dev.webviewbridge.host.core.Refusal;
import dev.webviewbridge.host.core.Size;

/**
 * A private display with one window on it. It needs no permission, is never blanked and shows no lock screen
 * (AOSP VirtualDisplayAdapter, KeyguardDisplayManager); the phone's own screen stays untouched.
 */
final class TabWindow {
    private final VirtualDisplay display;
    private final Context displayContext;
    private OffscreenPresentation presentation;
    private FrameLayout frame;
    private LatestFrame latest;
    private View view;

    /** Refusal if Android creates no display or window. */
    TabWindow(Context context, Size size) throws Refusal {
        latest = new LatestFrame(size.widthPx, size.heightPx);
        display = context.getSystemService(DisplayManager.class).createVirtualDisplay(
                "webview-bridge", size.widthPx, size.heightPx, size.densityDpi, latest.surface(),
                DisplayManager.VIRTUAL_DISPLAY_FLAG_OWN_CONTENT_ONLY);
        if (display == null) {
            latest.close();
            throw new Refusal("tab_failed", "Android did not create a virtual display.");
        }
        displayContext = context.createDisplayContext(display.getDisplay());
        try {
            presentation = new OffscreenPresentation(context, display.getDisplay());
            frame = new FrameLayout(presentation.getContext());
            presentation.setContentView(frame);
            presentation.show();
        } catch (RuntimeException refused) { // InvalidDisplayException, BadTokenException
            close();
            throw new Refusal("tab_failed", "Android did not show a window on the virtual display: " + refused);
        }
    }

    /**
     * The context for the view, with the display's density. It must not be the presentation's, which is a window context
     * from API 31 on: dialogs of WebView, such as a select popup, throw IllegalArgumentException there
     * (WindowManagerImpl.assertWindowContextTypeMatches) instead of BadTokenException, which WebView handles.
     */
    Context context() {
        return displayContext;
    }

    void put(View view, Size size) {
        this.view = view;
        frame.addView(view, new FrameLayout.LayoutParams(size.widthPx, size.heightPx));
    }

    /** Keeps the display, so that WebView gets the new density as a change of its display. */
    void resize(Size size) {
        LatestFrame before = latest;
        latest = new LatestFrame(size.widthPx, size.heightPx);
        display.resize(size.widthPx, size.heightPx, size.densityDpi);
        display.setSurface(latest.surface());
        before.close();
        ViewGroup.LayoutParams layout = view.getLayoutParams();
        layout.width = size.widthPx;
        layout.height = size.heightPx;
        view.setLayoutParams(layout);
    }

    LatestFrame latestFrame() {
        return latest;
    }

    void close() {
        if (frame != null) {
            frame.removeAllViews();
        }
        if (presentation != null) {
            presentation.dismiss();
        }
        display.release();
        latest.close();
    }

    private static final class OffscreenPresentation extends Presentation {
        OffscreenPresentation(Context context, android.view.Display display) {
            super(context, display);
        }

        @Override
        protected void onCreate(Bundle state) {
            super.onCreate(state);
            Window window = getWindow();
            window.addFlags(WindowManager.LayoutParams.FLAG_NOT_FOCUSABLE
                    // A window with a parent does not take this from the application (AOSP Window.java,
                    // adjustLayoutParamsForSubWindow), and WebView draws properly with it only.
                    | WindowManager.LayoutParams.FLAG_HARDWARE_ACCELERATED);
            window.setLayout(ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.MATCH_PARENT);
        }

        /** Before Android 12 a presentation cancels itself when its display changes (AOSP Presentation.java). */
        @Override
        public void cancel() {
            // only dismiss() ends it
        }
    }
}
