package dev.webviewbridge.host;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.webkit.JsPromptResult;
import android.webkit.JsResult;
import android.webkit.RenderProcessGoneDetail;
import android.webkit.WebChromeClient;
import android.webkit.WebView;
import android.webkit.WebViewClient;
import dev.webviewbridge.host.core.UnixSockets;
import java.time.Duration;
import java.util.ArrayList;
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
import org.robolectric.util.ReflectionHelpers;

/** What the app answers to WebView: each row of CALLBACKS.md that has a method of the app. */
@RunWith(RobolectricTestRunner.class)
@GraphicsMode(GraphicsMode.Mode.LEGACY)
@Config(sdk = {26, 30, 33, 35}, manifest = Config.NONE, shadows = {LoadingWebView.class, RecordedDisplays.class})
public final class CallbacksTest {
    private static final String NAME = "webview_bridge_callbacks";
    private static final String SIZE = "\"width_px\":320,\"height_px\":480,\"density_dpi\":160";
    private static final String URL = "https://a.example/";

    @Rule public final TemporaryFolder folder = new TemporaryFolder();

    private UnixSockets sockets;
    private ServiceController<HostService> service;
    private TestClient client;
    private String tab;
    private long maxTabs;

    @Before
    public void open() throws Exception {
        LoadingWebView.calls.clear();
        LoadingWebView.made.clear();
        LoadingWebView.destroyed = 0;
        sockets = new UnixSockets(folder.getRoot());
        HostRuntime.sockets = sockets;
        HostRuntime.exitProcess = () -> {};
        Intent intent = new Intent().putExtra("socket", NAME).putExtra("token", TestClient.TOKEN);
        service = Robolectric.buildService(HostService.class, intent).create().startCommand(0, 1);
        client = new TestClient(sockets, NAME);
        maxTabs = (Long) client.hello(NAME).get("max_tabs");
        tab = (String) client.ask("tab.open", SIZE).get("tab");
    }

    @After
    public void close() throws Exception {
        client.close();
        if (!shadowOf(service.get()).isStoppedBySelf()) {
            service.destroy();
        }
    }

    private static WebView view() {
        return LoadingWebView.made.get(LoadingWebView.made.size() - 1);
    }

    private static WebChromeClient chrome() {
        return shadowOf(view()).getWebChromeClient();
    }

    private static WebViewClient page() {
        return shadowOf(view()).getWebViewClient();
    }

    private static void pass(long seconds) {
        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofSeconds(seconds));
    }

    @Test
    public void an_alert_is_held_and_then_closed() {
        JsResult result = new JsResult(settled -> {});
        assertTrue(chrome().onJsAlert(view(), URL, "Note", result));
        pass(4);
        assertFalse(shadowOf(result).wasCancelled());
        pass(1);
        assertTrue(shadowOf(result).wasCancelled());
    }

    @Test
    public void a_confirm_is_held_and_then_dismissed_and_a_beforeunload_accepted() {
        RecordedResult confirm = RecordedResult.of(view(), false);
        RecordedResult unload = RecordedResult.of(view(), true);
        pass(4);
        assertEquals("none none", confirm.answer() + " " + unload.answer());
        pass(1);
        assertEquals("cancel confirm", confirm.answer() + " " + unload.answer());
    }

    @Test
    public void a_prompt_is_held_and_then_dismissed() {
        JsPromptResult result = ReflectionHelpers.callConstructor(
                JsPromptResult.class,
                ReflectionHelpers.ClassParameter.from(JsResult.ResultReceiver.class, (JsResult.ResultReceiver) it -> {}));
        assertTrue(chrome().onJsPrompt(view(), URL, "Name?", "nobody", result));
        pass(4);
        assertFalse(shadowOf((JsResult) result).wasCancelled());
        pass(1);
        assertTrue(shadowOf((JsResult) result).wasCancelled());
    }

    @Test
    public void a_window_of_the_page_becomes_a_tab() throws Exception {
        WebView opener = view();
        List<Message> sent = new ArrayList<>();
        Handler handler = new Handler(Looper.getMainLooper(), message -> sent.add(Message.obtain(message)));
        WebView.WebViewTransport transport = opener.new WebViewTransport();
        assertTrue(chrome().onCreateWindow(opener, false, true, handler.obtainMessage(0, transport)));
        Map<String, Object> event = client.event();
        assertEquals("popup", event.get("event"));
        assertEquals(tab, event.get("opener"));
        assertEquals(2, tabs());
        shadowOf(Looper.getMainLooper()).idle();
        assertEquals(1, sent.size());
        assertTrue(transport.getWebView() != null && transport.getWebView() != opener);
    }

    @Test
    public void a_window_beyond_the_last_tab_is_refused() throws Exception {
        while (tabs() < maxTabs) {
            client.ask("tab.open", SIZE);
        }
        Message result = new Handler(Looper.getMainLooper()).obtainMessage(0, view().new WebViewTransport());
        assertFalse(chrome().onCreateWindow(view(), false, true, result));
        Map<String, Object> event = client.event();
        assertEquals("popup", event.get("event"));
        assertEquals(true, event.get("refused"));
    }

    private int tabs() throws Exception {
        return ((List<?>) client.ask("tab.list", "").get("tabs")).size();
    }

    @Test
    public void a_window_that_closes_itself_is_reported_and_destroyed() throws Exception {
        chrome().onCloseWindow(view());
        Map<String, Object> event = client.event();
        assertEquals("tab.lost closed_by_page", event.get("event") + " " + event.get("reason"));
        assertEquals(1, LoadingWebView.destroyed);
    }

    @Test
    public void a_file_chooser_gets_the_staged_files_or_none() throws Exception {
        List<Uri[]> answers = new ArrayList<>();
        assertTrue(chrome().onShowFileChooser(view(), answers::add, new Chooser()));
        assertNull(answers.get(0));
        assertEquals(List.of(), client.event().get("answered"));
        client.ask("file.put", "\"name\":\"a.txt\",\"tab\":\"" + tab + "\",\"chooser\":true", 5);
        assertTrue(chrome().onShowFileChooser(view(), answers::add, new Chooser()));
        assertEquals("file", answers.get(1)[0].getScheme());
        Map<String, Object> event = client.event();
        assertEquals("file_chooser", event.get("event"));
        assertEquals(List.of("a.txt"), event.get("answered"));
        assertEquals(List.of("text/plain"), event.get("accept"));
    }

    private static final class Chooser extends WebChromeClient.FileChooserParams {
        @Override
        public int getMode() {
            return MODE_OPEN;
        }

        @Override
        public String[] getAcceptTypes() {
            return new String[] {"text/plain", ""};
        }

        @Override
        public boolean isCaptureEnabled() {
            return false;
        }

        @Override
        public CharSequence getTitle() {
            return null;
        }

        @Override
        public String getFilenameHint() {
            return null;
        }

        @Override
        public Intent createIntent() {
            return new Intent();
        }
    }

    @Test
    public void the_place_of_the_phone_is_refused() {
        List<Boolean> answers = new ArrayList<>();
        chrome().onGeolocationPermissionsShowPrompt(URL, (origin, allow, retain) -> {
            assertEquals(URL, origin);
            answers.add(allow);
            answers.add(retain);
        });
        assertEquals(List.of(false, false), answers);
    }

    @Test
    public void a_renderer_that_android_killed_is_survived_and_reported() throws Exception {
        RenderProcessGoneDetail killed = new RenderProcessGoneDetail() {
            @Override
            public boolean didCrash() {
                return false;
            }

            @Override
            public int rendererPriorityAtExit() {
                return 0;
            }
        };
        assertTrue(page().onRenderProcessGone(view(), killed));
        Map<String, Object> event = client.event();
        assertEquals("tab.lost renderer_killed", event.get("event") + " " + event.get("reason"));
        assertEquals(1, LoadingWebView.destroyed);
    }

    @Test
    public void only_web_addresses_are_followed() {
        for (String followed : new String[] {"http://a.example/", "https://a.example/", "about:blank"}) {
            assertFalse(followed, page().shouldOverrideUrlLoading(view(), new MainRequest(followed)));
        }
        for (String left : new String[] {"tel:1", "intent://x/", "market://details", "file:///etc/hosts"}) {
            assertTrue(left, page().shouldOverrideUrlLoading(view(), new MainRequest(left)));
        }
    }

    @Test
    public void a_download_is_reported() throws Exception {
        shadowOf(view()).getDownloadListener().onDownloadStart(URL + "a.zip", "agent", "attachment", "application/zip", 7);
        Map<String, Object> event = client.event();
        assertEquals("download", event.get("event"));
        assertEquals(URL + "a.zip", event.get("url"));
        assertEquals("application/zip", event.get("mime"));
        assertEquals(7L, event.get("length_bytes"));
    }

    @Test
    public void the_instrumentation_serves_a_client() throws Exception {
        HostInstrumentation instrumentation = new HostInstrumentation();
        ReflectionHelpers.setField(instrumentation, "mAppContext", RuntimeEnvironment.getApplication());
        ReflectionHelpers.setField(instrumentation, "mThread", RuntimeEnvironment.getActivityThread());
        Bundle arguments = new Bundle();
        arguments.putString("socket", NAME + "_b");
        arguments.putString("token", TestClient.TOKEN);
        instrumentation.onCreate(arguments);
        TestClient.await("its socket", () -> sockets.path(NAME + "_b") != null);
        try (TestClient other = new TestClient(sockets, NAME + "_b")) {
            assertEquals(true, other.hello(NAME + "_b").get("ok"));
        }
    }
}
