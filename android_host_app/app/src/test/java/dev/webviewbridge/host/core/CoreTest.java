package dev.webviewbridge.host.core;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public final class CoreTest {
    @Rule public final TemporaryFolder folder = new TemporaryFolder();

    @Test
    public void proofs_are_those_of_the_protocols_test_vector() {
        byte[] token = new byte[32];
        String client = "11".repeat(16);
        String host = "22".repeat(16);
        assertEquals(
                "de4e34794a5370a2f498b5c6915e3b2f7d0acc05f1ad0b74832979086a36d6a5",
                Proof.ofClient(token, client, "webview_bridge_test"));
        assertEquals(
                "f673756c76861524a97a701cbdf825a3123d37c9ab877eb547ad4553bfbb84d8",
                Proof.ofHost(token, client, host, "webview_bridge_test"));
        assertFalse(Proof.equal("0".repeat(64), null));
        assertFalse(Proof.equal("0".repeat(64), "1".repeat(64)));
    }

    @Test
    public void json_comes_back_as_it_was_written() throws BadFrame {
        String text = "{\"a\":[1,-2,true,false,null,0.5],\"b\":{\"c\":\"\\u0000\\\"\\\\é日😀\"},\"d\":[],\"e\":{}}";
        assertEquals(text, Json.write(Json.parseObject(text)));
        assertEquals(1000.0, Json.parseObject(" {\"n\" : 1E3 }\n").get("n"));
        assertEquals("\uD83D\uDE00", Json.parseObject("{\"n\":\"\\ud83d\\uDE00\"}").get("n"));
        assertEquals("\"\uFFFD\"", Json.write("\uD800"));
    }

    @Test
    public void what_is_not_json_is_refused() {
        String deep = "[".repeat(16) + "]".repeat(16);
        for (String text : Arrays.asList(
                "", "[]", "1", "{", "{}x", "{'a':1}", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{\"a\":01}", "{\"a\":.5}",
                "{\"a\":1.}", "{\"a\":+1}", "{\"a\":NaN}", "{\"a\":-Infinity}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
                "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\\ud800\"}", "{\"a\":nul}", "\uFEFF{}", "{\"a\":" + deep + "}")) {
            assertThrows(text, BadFrame.class, () -> Json.parseObject(text));
        }
    }

    @Test
    public void frames_do_not_depend_on_how_the_stream_is_cut() throws Exception {
        byte[] bytes = join(frame("{\"id\":1}", 0), frame("{\"id\":2}", 3), new byte[] {7, 8, 9});
        for (int cut = 0; cut <= bytes.length; cut++) {
            FrameReader frames = reader(new SequenceInputStream(
                    new ByteArrayInputStream(bytes, 0, cut), new ByteArrayInputStream(bytes, cut, bytes.length - cut)));
            frames.widen();
            assertEquals(1L, frames.next().header.get("id"));
            Body body = frames.next().body;
            assertArrayEquals(new byte[] {7, 8, 9}, Files.readAllBytes(body.file.toPath()));
            body.discard();
            assertNull(frames.next());
        }
        assertEquals(0, folder.getRoot().list().length);
    }

    @Test
    public void an_end_inside_a_frame_leaves_no_file() throws Exception {
        FrameReader frames = reader(new ByteArrayInputStream(join(frame("{\"id\":2}", 9), new byte[] {7})));
        frames.widen();
        assertThrows(EOFException.class, frames::next);
        assertEquals(0, folder.getRoot().list().length);
    }

    @Test
    public void lengths_are_checked_before_the_rest_arrives() throws Exception {
        for (int[] lengths : new int[][] {{4097, 0}, {2, 1}, {1, 0}, {-1, 0}, {2, -1}}) {
            byte[] prefix = ByteBuffer.allocate(8).putInt(lengths[0]).putInt(lengths[1]).array();
            assertThrows(BadFrame.class, reader(new ByteArrayInputStream(prefix))::next);
        }
    }

    @Test
    public void work_starts_after_the_previous_work_is_done() {
        SerialQueue queue = new SerialQueue();
        List<String> order = new ArrayList<>();
        Runnable[] first = {null};
        queue.add(done -> {
            order.add("first");
            first[0] = done;
        });
        queue.add(done -> {
            order.add("second");
            done.run();
        });
        assertEquals(Collections.singletonList("first"), order);
        first[0].run();
        assertEquals(Arrays.asList("first", "second"), order);
    }

    @Test
    public void a_thousand_items_do_not_fill_the_stack() {
        SerialQueue queue = new SerialQueue();
        int[] count = {0};
        queue.add(done -> {
            for (int i = 0; i < 100_000; i++) {
                queue.add(next -> {
                    count[0]++;
                    next.run();
                });
            }
            done.run();
        });
        assertEquals(100_000, count[0]);
    }

    @Test
    public void a_tab_is_idle_after_its_timeout_and_not_before() {
        IdleTimer clock = new IdleTimer(300, 0);
        Tab tab = new Tab("1", new Size(1, 1, 160), null, null, null, 1000);
        clock.setUsed(true, 1000);
        assertEquals(300_000, clock.untilNextMs(Collections.singletonList(tab), 1000));
        assertTrue(clock.idle(Collections.singletonList(tab), 300_999).isEmpty());
        assertEquals(1, clock.idle(Collections.singletonList(tab), 301_000).size());
        clock.setUsed(false, 400_000);
        assertFalse(clock.isUnused(429_999));
        assertTrue(clock.isUnused(430_000));
    }

    @Test
    public void staged_files_serve_one_chooser_and_are_deleted_with_their_tab() throws Exception {
        StagedFiles files = new StagedFiles(folder.getRoot());
        String path = files.put("a.txt", Body.NONE, "1", true).file.getPath();
        files.put("b.txt", Body.NONE, "1", true);
        assertEquals(2, files.takeForChooser("1", true).size());
        assertTrue(files.takeForChooser("1", true).isEmpty());
        assertTrue(new File(path).isFile());
        files.dropTab("1");
        assertEquals(0, files.count());
        assertFalse(new File(path).exists());
        assertEquals(0, folder.getRoot().list().length);
    }

    @Test
    public void a_file_name_cannot_lead_elsewhere() {
        for (String name : Arrays.asList("", ".", "..", "a/b", "a\\b", "a\0", "x".repeat(121), "日".repeat(100))) {
            assertFalse(name, StagedFiles.isBaseName(name));
        }
        assertTrue(StagedFiles.isBaseName("räport.pdf"));
    }

    @Test
    public void the_user_agent_is_that_of_mobile_chrome() {
        assertEquals(
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
                UserAgent.ofMobileChrome("Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 "
                        + "(KHTML, like Gecko) Version/4.0 Chrome/120.0.0.0 Mobile Safari/537.36"));
    }

    @Test
    public void a_page_cannot_open_other_apps_or_files() {
        for (String scheme : Arrays.asList("intent", "tel", "market", "file", "content", "javascript", null)) {
            assertFalse(Navigation.isAllowed(scheme));
        }
        assertTrue(Navigation.isAllowed("HTTPS"));
    }

    private FrameReader reader(InputStream in) {
        int[] count = {0};
        return new FrameReader(in, () -> {
            File own = new File(folder.getRoot(), "f" + count[0]++);
            assertTrue(own.mkdir());
            return new File(own, "body");
        });
    }

    private static byte[] frame(String header, int bodyBytes) {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(8 + text.length).putInt(text.length).putInt(bodyBytes).put(text).array();
    }

    private static byte[] join(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(part -> part.length).sum());
        Arrays.stream(parts).forEach(all::put);
        return all.array();
    }
}
