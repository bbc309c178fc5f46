package dev.webviewbridge.host;

import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.app.Service;
import android.os.Build;

/** The notification of the foreground service. Hidden on Android 13+, because the app does not request the permission. */
final class StatusNotification {
    private static final int ID = 1;
    private static final String CHANNEL = "status";

    private StatusNotification() {}

    static void show(Service service) {
        NotificationChannel channel =
                new NotificationChannel(CHANNEL, "Status", NotificationManager.IMPORTANCE_LOW);
        service.getSystemService(NotificationManager.class).createNotificationChannel(channel);
        Notification notification = new Notification.Builder(service, CHANNEL)
                .setSmallIcon(android.R.drawable.stat_notify_sync)
                .setContentTitle("webview-bridge renders pages for a computer connected by adb")
                .setOngoing(true)
                .build();
        if (Build.VERSION.SDK_INT >= 34) {
            Api34.startForeground(service, ID, notification);
        } else {
            service.startForeground(ID, notification);
        }
    }
}
