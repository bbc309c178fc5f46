package dev.webviewbridge.host;

import android.content.Context;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.Handler;
import android.os.Looper;
import android.os.PowerManager;
import android.os.Process;
import android.util.Log;
import dev.webviewbridge.host.core.HostCore;
import dev.webviewbridge.host.core.Loop;
import dev.webviewbridge.host.core.Sockets;
import java.io.File;

/** The host in this process, started by the service or the instrumentation. */
final class HostRuntime {
    static final String TAG = "WebViewBridgeHost";
    private static final long EXIT_DELAY_MS = 1000;

    /** Replaced in tests: Robolectric has no abstract sockets, and its process must not exit. */
    static Sockets sockets = new LocalSockets();
    static Runnable exitProcess = () -> Process.killProcess(Process.myPid());

    private static Runnable cancelExit = () -> {};

    private final HostCore core;
    private final PowerManager.WakeLock wakeLock;

    HostRuntime(Context context, Runnable stopped) {
        cancelExit.run();
        wakeLock = context.getSystemService(PowerManager.class)
                .newWakeLock(PowerManager.PARTIAL_WAKE_LOCK, "webview-bridge:clients");
        wakeLock.setReferenceCounted(false);
        Loop loop = new MainLoop();
        HostCore.Identity identity =
                new HostCore.Identity(versionName(context), Build.VERSION.SDK_INT, Process.myPid());
        core = new HostCore(
                loop, new WebViewEngine(context), sockets, new File(context.getCacheDir(), "files"), identity,
                new HostCore.HostCallbacks() {
                    @Override
                    public void log(String text) {
                        Log.i(TAG, text);
                    }

                    @Override
                    public void clients(int count) {
                        keepAwake(count > 0);
                    }

                    @Override
                    public void stopped(String why) {
                        Log.i(TAG, "stopping: " + why);
                        keepAwake(false);
                        stopped.run();
                    }
                });
    }

    void start(String socketName, String token, String idleTimeoutS) {
        core.start(socketName, token, idleTimeoutS);
    }

    void shutDown(String why) {
        core.shutDown(why);
    }

    /**
     * Ends the process soon after its service. Android would cache and freeze it, while its devtools socket stays bound
     * and accepts nothing: every connect to it would hang adbd.
     */
    static void exitSoon() {
        Handler handler = new Handler(Looper.getMainLooper());
        Runnable exit = () -> exitProcess.run();
        handler.postDelayed(exit, EXIT_DELAY_MS);
        cancelExit = () -> handler.removeCallbacks(exit);
    }

    private void keepAwake(boolean wanted) {
        if (wanted) {
            wakeLock.acquire();
        } else if (wakeLock.isHeld()) {
            wakeLock.release();
        }
    }

    private static String versionName(Context context) {
        try {
            String name = context.getPackageManager().getPackageInfo(context.getPackageName(), 0).versionName;
            return name == null ? "" : name;
        } catch (PackageManager.NameNotFoundException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
