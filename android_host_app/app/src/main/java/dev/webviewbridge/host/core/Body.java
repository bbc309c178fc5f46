package dev.webviewbridge.host.core;

import java.io.File;
import java.io.IOException;

/** The body of a frame, on disk because 128 MiB do not fit into an app's heap. */
final class Body {
    static final Body NONE = new Body(0, null, null);

    final long sizeBytes;
    final File file;
    /** Why the bytes could not be stored; they were read and dropped. */
    final IOException failure;

    Body(long sizeBytes, File file, IOException failure) {
        this.sizeBytes = sizeBytes;
        this.file = file;
        this.failure = failure;
    }

    /** Deletes the file unless it was taken over (renamed). */
    void discard() {
        if (file != null) {
            file.delete();
            file.getParentFile().delete(); // refused while the file, renamed, is in it
        }
    }
}
