package dev.webviewbridge.host;

import static org.robolectric.util.ReflectionHelpers.ClassParameter.from;

import android.hardware.display.DisplayManager;
import android.hardware.display.VirtualDisplay;
import android.view.Surface;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowDisplayManager;

/** Robolectric's displays, which do not keep the flags they were asked for. */
@Implements(DisplayManager.class)
public final class RecordedDisplays extends ShadowDisplayManager {
    static int flags = -1;

    @RealObject private DisplayManager manager;

    @Implementation
    protected VirtualDisplay createVirtualDisplay(
            String name, int widthPx, int heightPx, int densityDpi, Surface surface, int flags) {
        RecordedDisplays.flags = flags;
        return Shadow.directlyOn(
                manager, DisplayManager.class, "createVirtualDisplay", from(String.class, name), from(int.class, widthPx),
                from(int.class, heightPx), from(int.class, densityDpi), from(Surface.class, surface),
                from(int.class, flags));
    }
}
