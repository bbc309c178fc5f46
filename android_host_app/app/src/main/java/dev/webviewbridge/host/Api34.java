package dev.webviewbridge.host;

import android.annotation.TargetApi;
import android.app.Notification;
import android.app.Service;
import android.content.pm.ServiceInfo;

/** Calls of API 34, which requires the type of a foreground service; loaded only after a version check. */
@TargetApi(34)
final class Api34 {
    private Api34() {}

    static void startForeground(Service service, int id, Notification notification) {
        service.startForeground(id, notification, ServiceInfo.FOREGROUND_SERVICE_TYPE_SPECIAL_USE);
    }
}
