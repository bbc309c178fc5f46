package dev.webviewbridge.host;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.Service;
import android.content.Context;
import android.content.Intent;
import android.content.pm.ServiceInfo;
import android.hardware.display.DisplayManager;
import android.os.Build;
import android.os.Looper;
import android.util.DisplayMetrics;
import android.view.Display;
import android.view.WindowManager;
import android.webkit.RenderProcessGoneDetail;
import android.webkit.WebSettings;
import android.webkit.WebView;
import dev.webviewbridge.host.core.UnixSockets;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.android.controller.ServiceController;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.shadows.ShadowDialog;

@RunWith(RobolectricTestRunner.class)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@Config(sdk = {26, 35}, manifest = Config.NONE, shadows = {LoadingWebView.class, RecordedDisplays.class})
public final class HostServiceTest {
    private static final String NAME = "webview_bridge_test";
    private static final String SIZE = "\"width_px\":320,\"height_px\":480,\"density_dpi\":160";

    @Rule public final TemporaryFolder folder = new TemporaryFolder();

    private UnixSockets sockets;
    private ServiceController<HostService> service;
    private int exits;

    @Before
    public void start() {
        LoadingWebView.calls.clear();
        LoadingWebView.made.clear();
        LoadingWebView.destroyed = 0;
        sockets = new UnixSockets(folder.getRoot());
        HostRuntime.sockets = sockets;
        HostRuntime.exitProcess = () -> exits++;
        service = Robolectric.buildService(HostService.class, intent(NAME, TestClient.TOKEN)).create();
    }

    @After
    public void stop() {
        if (!shadowOf(service.get()).isStoppedBySelf()) {
            service.destroy();
        }
    }

    private static Intent intent(String name, String token) {
        return new Intent().putExtra("socket", name).putExtra("token", token);
    }

    private TestClient client() throws Exception {
        service.startCommand(0, 1);
        TestClient client = new TestClient(sockets, NAME);
        assertEquals(true, client.hello(NAME).get("ok"));
        return client;
    }

    private String open(TestClient client) throws Exception {
        Map<String, Object> reply = client.ask("tab.open", SIZE);
        assertEquals(String.valueOf(reply), true, reply.get("ok"));
        return (String) reply.get("tab");
    }

    private static void pass(long seconds) {
        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofSeconds(seconds));
    }

    /** Waits until the thread that reads from the last client has noticed its end. */
    private static void awaitClientsEnd() throws Exception {
        TestClient.await("the client's end", () -> org.robolectric.shadows.ShadowPowerManager.getLatestWakeLock() != null
                && !org.robolectric.shadows.ShadowPowerManager.getLatestWakeLock().isHeld());
    }

    private static WebView view() {
        return LoadingWebView.made.get(LoadingWebView.made.size() - 1);
    }

    @Test
    public void it_is_in_the_foreground_when_its_start_returns_and_is_not_restarted() {
        int result = service.get().onStartCommand(intent(NAME, TestClient.TOKEN), 0, 1);
        assertEquals(Service.START_NOT_STICKY, result);
        assertNotNull(shadowOf(service.get()).getLastForegroundNotification());
        assertFalse(shadowOf(service.get()).isForegroundStopped());
    }

    @Test
    public void the_service_declares_its_special_use() {
        service.startCommand(0, 1);
        if (Build.VERSION.SDK_INT >= 34) { // where a foreground service must have a type
            int type = service.get().getForegroundServiceType();
            assertEquals(ServiceInfo.FOREGROUND_SERVICE_TYPE_SPECIAL_USE, type);
        }
    }

    @Test
    public void without_a_token_the_service_stops_without_listening() {
        service.withIntent(intent(NAME, "short")).startCommand(0, 1);
        assertNull(sockets.path(NAME));
        assertTrue(shadowOf(service.get()).isStoppedBySelf());
    }

    @Test
    public void other_uids_are_cut_off_without_a_byte() throws Exception {
        sockets.uid = 10123;
        service.startCommand(0, 1);
        try (TestClient client = new TestClient(sockets, NAME)) {
            client.awaitEnd();
        }
    }

    @Test
    public void hello_describes_the_device() throws Exception {
        service.startCommand(0, 1);
        try (TestClient client = new TestClient(sockets, NAME)) {
            Map<String, Object> hello = client.hello(NAME);
            assertEquals((long) Build.VERSION.SDK_INT, hello.get("api_level"));
            assertEquals(300L, hello.get("idle_timeout_s"));
        }
    }

    @Test
    public void a_tab_has_a_private_display_of_its_size_and_a_closed_webview() throws Exception {
        try (TestClient client = client()) {
            open(client);
            assertEquals("debugging true", LoadingWebView.calls.get(1));
            assertEquals("first load", LoadingWebView.calls.get(2));
            Display display = display();
            android.graphics.Point size = new android.graphics.Point();
            display.getRealSize(size);
            assertEquals(new android.graphics.Point(320, 480), size);
            // Not public, so private: others' windows cannot come onto it, and it shows nothing of the phone's screen.
            assertEquals(DisplayManager.VIRTUAL_DISPLAY_FLAG_OWN_CONTENT_ONLY, RecordedDisplays.flags);
            DisplayMetrics metrics = new DisplayMetrics();
            display.getRealMetrics(metrics);
            assertEquals(160, metrics.densityDpi);
            WindowManager.LayoutParams window =
                    ShadowDialog.getLatestDialog().getWindow().getAttributes();
            assertNotEquals(0, window.flags & WindowManager.LayoutParams.FLAG_NOT_FOCUSABLE);
            assertNotEquals(0, window.flags & WindowManager.LayoutParams.FLAG_HARDWARE_ACCELERATED);
            WebSettings settings = view().getSettings();
            assertTrue(settings.getJavaScriptEnabled());
            assertTrue(settings.getDomStorageEnabled());
            assertTrue(settings.getUseWideViewPort());
            assertTrue(settings.getLoadWithOverviewMode());
            assertFalse(settings.getAllowFileAccess());
            assertFalse(settings.getAllowContentAccess());
            assertEquals(WebSettings.MIXED_CONTENT_COMPATIBILITY_MODE, settings.getMixedContentMode());
            assertFalse(settings.getBuiltInZoomControls());
            assertTrue(settings.getUserAgentString(), settings.getUserAgentString().contains("Mobile"));
        }
    }

    private static Display display() {
        Context context = RuntimeEnvironment.getApplication();
        Display[] all = context.getSystemService(DisplayManager.class).getDisplays();
        return all[all.length - 1];
    }

    @Test
    public void a_tab_is_destroyed_after_five_idle_minutes_and_not_before() throws Exception {
        try (TestClient client = client()) {
            String tab = open(client);
            pass(299);
            assertEquals(0, LoadingWebView.destroyed);
            pass(1);
            assertEquals(1, LoadingWebView.destroyed);
            Map<String, Object> event = client.event();
            assertEquals("idle_destroyed", event.get("event"));
            assertEquals(tab, event.get("tab"));
        }
    }

    @Test
    public void touch_postpones_it() throws Exception {
        try (TestClient client = client()) {
            open(client);
            pass(200);
            client.ask("touch", "");
            pass(299);
            assertEquals(0, LoadingWebView.destroyed);
            pass(1);
            assertEquals(1, LoadingWebView.destroyed);
        }
    }

    @Test
    public void a_dead_renderer_is_survived_and_reported() throws Exception {
        try (TestClient client = client()) {
            String tab = open(client);
            RenderProcessGoneDetail crash = new RenderProcessGoneDetail() {
                @Override
                public boolean didCrash() {
                    return true;
                }

                @Override
                public int rendererPriorityAtExit() {
                    return 0;
                }
            };
            assertTrue(shadowOf(view()).getWebViewClient().onRenderProcessGone(view(), crash));
            Map<String, Object> event = client.event();
            assertEquals("tab.lost", event.get("event"));
            assertEquals(tab, event.get("tab"));
            assertEquals("renderer_crashed", event.get("reason"));
            assertEquals(1, LoadingWebView.destroyed);
        }
    }

    @Test
    public void a_dialog_waits_five_seconds_for_a_connected_client() throws Exception {
        try (TestClient client = client()) {
            open(client);
            RecordedResult confirm = RecordedResult.of(view(), false);
            RecordedResult unload = RecordedResult.of(view(), true);
            pass(4);
            assertEquals("none none", confirm.answer() + " " + unload.answer());
            pass(1);
            assertEquals("cancel confirm", confirm.answer() + " " + unload.answer());
        }
    }

    @Test
    public void a_dialog_is_answered_at_once_without_a_client() throws Exception {
        WebView left;
        try (TestClient client = client()) {
            open(client);
            left = view();
        }
        awaitClientsEnd();
        assertEquals("cancel", RecordedResult.of(left, false).answer());
    }

    @Test
    public void a_long_press_is_left_to_the_page() throws Exception {
        try (TestClient client = client()) {
            open(client);
            assertFalse(view().performLongClick());
        }
    }

    @Test
    public void staged_files_are_in_the_private_cache_and_serve_the_chooser() throws Exception {
        try (TestClient client = client()) {
            String tab = open(client);
            Map<String, Object> reply =
                    client.ask("file.put", "\"name\":\"a.txt\",\"tab\":\"" + tab + "\",\"chooser\":true", 5);
            File file = new File((String) reply.get("path"));
            assertEquals(5, file.length());
            assertTrue(file.getPath().startsWith(service.get().getCacheDir().getPath()));
            client.ask("tab.close", "\"tab\":\"" + tab + "\"");
            assertFalse(file.exists());
        }
    }

    @Test
    public void a_tab_is_reset_and_resized() throws Exception {
        try (TestClient client = client()) {
            String tab = open(client);
            Map<String, Object> reset = client.ask("tab.reset", "\"tab\":\"" + tab + "\"");
            assertEquals(String.valueOf(reset), true, reset.get("ok"));
            assertEquals(reset.get("url"), view().getUrl());
            Map<String, Object> resized = client.ask(
                    "tab.resize", "\"tab\":\"" + tab + "\",\"width_px\":400,\"height_px\":300,\"density_dpi\":320");
            assertEquals(String.valueOf(resized), true, resized.get("ok"));
            assertEquals(400, view().getLayoutParams().width);
        }
    }

    @Test
    public void the_service_stops_thirty_seconds_after_the_last_client() throws Exception {
        TestClient client = client();
        client.close();
        awaitClientsEnd();
        pass(29);
        assertFalse(shadowOf(service.get()).isStoppedBySelf());
        pass(1);
        assertTrue(shadowOf(service.get()).isStoppedBySelf());
        assertNull(sockets.path(NAME));
    }

    @Test
    public void shutdown_replies_and_ends_tabs_service_and_process() throws Exception {
        try (TestClient client = client()) {
            open(client);
            assertEquals(true, client.ask("shutdown", "").get("ok"));
            client.awaitEnd();
            assertEquals(1, LoadingWebView.destroyed);
            assertTrue(shadowOf(service.get()).isStoppedBySelf());
            service.destroy();
            pass(2);
            assertEquals(1, exits);
        }
    }

    @Test
    public void nothing_is_left_of_a_hundred_tabs() throws Exception {
        try (TestClient client = client()) {
            int displays = displays();
            for (int i = 0; i < 100; i++) {
                client.ask("tab.close", "\"tab\":\"" + open(client) + "\"");
            }
            assertEquals(100, LoadingWebView.destroyed);
            assertEquals(displays, displays());
            assertEquals(0L, client.ask("stats", "").get("tabs"));
            assertEquals(List.of(), client.ask("tab.list", "").get("tabs"));
        }
    }

    @Test
    public void nothing_is_left_of_a_hundred_clients() throws Exception {
        try (TestClient client = client()) {
            client.ask("stats", "");
            int threads = Thread.activeCount();
            for (int i = 0; i < 100; i++) {
                try (TestClient other = new TestClient(sockets, NAME)) {
                    assertEquals(true, other.hello(NAME).get("ok"));
                }
            }
            TestClient.await("the clients' end", () -> client.ask("stats", "").get("clients").equals(1L)
                    && Thread.activeCount() <= threads);
        }
    }

    private static int displays() {
        return RuntimeEnvironment.getApplication().getSystemService(DisplayManager.class).getDisplays().length;
    }
}
