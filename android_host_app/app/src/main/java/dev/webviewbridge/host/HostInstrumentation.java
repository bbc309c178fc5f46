package dev.webviewbridge.host;

import android.app.Activity;
import android.app.Instrumentation;
import android.os.Bundle;

/**
 * The fallback for phones that kill the foreground service: `am instrument -e socket NAME -e token HEX …/.HostInstrumentation`.
 *
 * <p>Any app can start an instrumentation, but this one serves uids 0 and 2000 only and ends by itself.
 */
public final class HostInstrumentation extends Instrumentation {
    private Bundle arguments;

    @Override
    public void onCreate(Bundle arguments) {
        super.onCreate(arguments);
        this.arguments = arguments;
        start();
    }

    @Override
    public void onStart() {
        super.onStart();
        runOnMainSync(() -> new HostRuntime(getTargetContext(), () -> finish(Activity.RESULT_OK, new Bundle()))
                .start(
                        arguments.getString("socket"),
                        arguments.getString("token"),
                        arguments.getString("idle_timeout_s")));
    }
}
