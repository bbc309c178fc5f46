package dev.webviewbridge.host;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;

/** The foreground service (PROTOCOL.md §1). Each intent adds an endpoint. */
public final class HostService extends Service {
    private HostRuntime runtime;
    private boolean isOver;

    @Override
    public void onCreate() {
        super.onCreate();
        runtime = new HostRuntime(this, () -> {
            isOver = true;
            stopSelf();
        });
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        StatusNotification.show(this); // within five seconds, or Android kills the process
        if (isOver) { // an intent for a service that is stopping
            stopSelf();
        } else if (intent != null) {
            runtime.start(
                    intent.getStringExtra("socket"),
                    intent.getStringExtra("token"),
                    intent.getStringExtra("idle_timeout_s"));
        }
        return START_NOT_STICKY;
    }

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }

    @Override
    public void onDestroy() {
        runtime.shutDown("the service is destroyed");
        HostRuntime.exitSoon();
        super.onDestroy();
    }
}
