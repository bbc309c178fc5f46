package dev.webviewbridge.host.core;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Translates callbacks of one tab into events (PROTOCOL.md §6). */
final class TabListener implements WebTab.Listener {
    private final HostCore core;
    private final Tab tab;

    TabListener(HostCore core, Tab tab) {
        this.core = core;
        this.tab = tab;
    }

    @Override
    public void lost(String reason, String message) {
        if (core.remove(tab)) {
            Map<String, Object> fields = ofTab();
            fields.put("reason", reason);
            fields.put("message", message);
            core.sendEvent("tab.lost", fields);
        }
    }

    @Override
    public void download(String url, String mime, long lengthBytes, String disposition, String userAgent) {
        Map<String, Object> fields = ofTab();
        fields.put("url", url);
        fields.put("mime", mime);
        fields.put("length_bytes", lengthBytes < 0 ? -1 : lengthBytes);
        fields.put("disposition", disposition);
        fields.put("user_agent", userAgent);
        core.sendEvent("download", fields);
    }

    @Override
    public boolean popup(String url, WebTab.PopupMaker maker) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("tab", null);
        fields.put("opener", tab.name);
        fields.put("url", url);
        if (!core.tabs.isFull() && core.tabs.get(tab.name) == tab) {
            Tab opened = new Tab(core.tabs.newName(), tab.size, tab.profile, tab.name, null, core.loop.nowMs());
            try {
                opened.web = maker.make(tab.size, tab.profile, new TabListener(core, opened));
                core.add(opened);
                fields.put("tab", opened.name);
                Requests.putSize(fields, opened.size);
                core.sendEvent("popup", fields);
                return true;
            } catch (Refusal failed) {
                fields.put("message", failed.getMessage());
            }
        }
        fields.put("refused", true);
        core.sendEvent("popup", fields);
        return false;
    }

    @Override
    public List<File> chooser(boolean multiple, List<String> accept) {
        List<File> files = core.files.takeForChooser(tab.name, multiple);
        List<Object> names = new ArrayList<>();
        for (File file : files) {
            names.add(file.getName());
        }
        Map<String, Object> fields = ofTab();
        fields.put("multiple", multiple);
        fields.put("accept", accept);
        fields.put("answered", names);
        core.sendEvent("file_chooser", fields);
        return files;
    }

    @Override
    public boolean hasClient() {
        return core.clientCount() > 0;
    }

    private Map<String, Object> ofTab() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("tab", tab.name);
        return fields;
    }
}
