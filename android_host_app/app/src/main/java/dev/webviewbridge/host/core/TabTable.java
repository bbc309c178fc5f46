package dev.webviewbridge.host.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The open tabs in opening order. Names are never reused; tabs that still load count towards the limit. */
final class TabTable {
    static final int MAX_TABS = 8;

    private final Map<String, Tab> tabs = new LinkedHashMap<>();
    private int names;
    private final Set<Runnable> opening = new LinkedHashSet<>();

    Tab get(String name) {
        return tabs.get(name);
    }

    Tab require(String name) throws Refusal {
        Tab tab = tabs.get(name);
        if (tab == null) {
            throw new Refusal("no_such_tab", "tab " + name + " does not exist.").with("tab", name);
        }
        return tab;
    }

    List<Tab> all() {
        return new ArrayList<>(tabs.values());
    }

    int count() {
        return tabs.size();
    }

    boolean isEmpty() {
        return tabs.isEmpty() && opening.isEmpty();
    }

    boolean isFull() {
        return tabs.size() + opening.size() >= MAX_TABS;
    }

    String newName() {
        return Integer.toString(++names);
    }

    /** `abandon` cancels the opening of the tab. */
    void startOpening(Runnable abandon) {
        opening.add(abandon);
    }

    void endOpening(Runnable abandon) {
        opening.remove(abandon);
    }

    void abandonOpening() {
        for (Runnable abandon : new ArrayList<>(opening)) {
            abandon.run();
        }
    }

    void add(Tab tab) {
        tabs.put(tab.name, tab);
    }

    /** False if it was not there. */
    boolean remove(Tab tab) {
        return tabs.remove(tab.name, tab);
    }
}
