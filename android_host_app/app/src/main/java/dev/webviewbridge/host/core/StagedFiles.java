package dev.webviewbridge.host.core;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The files of `file.put`, each in a folder of its own, so that names cannot collide. */
final class StagedFiles {
    private final File folder;
    private final Map<String, Staged> files = new LinkedHashMap<>();
    private final Map<String, List<Staged>> forChooser = new LinkedHashMap<>();
    private long sizeBytes;

    /** A stored file; `tab` is null if it belongs to none. */
    static final class Staged {
        final File file;
        final long sizeBytes;
        final String tab;

        Staged(File file, long sizeBytes, String tab) {
            this.file = file;
            this.sizeBytes = sizeBytes;
            this.tab = tab;
        }
    }

    /** Deletes the files of an earlier process. */
    StagedFiles(File folder) {
        this.folder = folder;
        deleteTree(folder);
    }

    int count() {
        return files.size();
    }

    long sizeBytes() {
        return sizeBytes;
    }

    /** A file for a body that is being received. Callable on any thread. */
    File newSpoolFile() throws IOException {
        return new File(newFolder(), "body");
    }

    static boolean isBaseName(String name) {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            return false;
        }
        for (char mark : name.toCharArray()) {
            if (mark == '/' || mark == '\\' || mark < 32 || mark == 127) {
                return false;
            }
        }
        return name.codePointCount(0, name.length()) <= 120 && name.getBytes(StandardCharsets.UTF_8).length <= 255;
    }

    /** Takes over the body; Refusal if the device is full. */
    Staged put(String name, Body body, String tab, boolean chooser) throws Refusal {
        File stored;
        try {
            if (body.failure != null) {
                throw body.failure;
            }
            File from = body.file;
            if (from == null) { // an empty body
                from = newSpoolFile();
                if (!from.createNewFile()) {
                    throw new IOException("the file exists");
                }
            }
            stored = new File(from.getParentFile(), name);
            if (!from.equals(stored) && !from.renameTo(stored)) {
                throw new IOException("the file system refused the name");
            }
        } catch (IOException noRoom) {
            throw new Refusal("no_space", "could not store the file: " + noRoom.getMessage() + ".");
        }
        Staged staged = new Staged(stored, body.sizeBytes, tab);
        files.put(stored.getPath(), staged);
        sizeBytes += staged.sizeBytes;
        if (chooser) {
            forChooser.computeIfAbsent(tab, key -> new ArrayList<>()).add(staged);
        }
        return staged;
    }

    /** Deletes a staged file; false if the path is not one. */
    boolean delete(String path) {
        Staged staged = files.remove(path);
        if (staged == null) {
            return false;
        }
        sizeBytes -= staged.sizeBytes;
        for (List<Staged> waiting : forChooser.values()) {
            waiting.remove(staged);
        }
        deleteTree(staged.file.getParentFile());
        return true;
    }

    /** Returns and removes the files for the tab's next chooser; only the first if it takes a single one. */
    List<File> takeForChooser(String tab, boolean multiple) {
        List<File> taken = new ArrayList<>();
        List<Staged> waiting = forChooser.remove(tab);
        if (waiting != null) {
            for (Staged staged : waiting) {
                if (multiple || taken.isEmpty()) {
                    taken.add(staged.file);
                }
            }
        }
        return taken;
    }

    void dropTab(String tab) {
        forChooser.remove(tab);
        for (Staged staged : new ArrayList<>(files.values())) {
            if (tab.equals(staged.tab)) {
                delete(staged.file.getPath());
            }
        }
    }

    void clear() {
        for (String path : new ArrayList<>(files.keySet())) {
            delete(path);
        }
        forChooser.clear();
    }

    private File newFolder() throws IOException {
        File own = new File(folder, Hex.random(8));
        if (!own.mkdirs()) {
            throw new IOException("could not create a folder");
        }
        return own;
    }

    private static void deleteTree(File tree) {
        File[] inside = tree.listFiles();
        if (inside != null) {
            for (File item : inside) {
                deleteTree(item);
            }
        }
        tree.delete();
    }
}
