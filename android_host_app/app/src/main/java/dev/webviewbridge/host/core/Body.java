package dev.webviewbridge.host.core;

import java.io.File;
import java.io.IOException;

/** What follows a header. It is on disk already, because 128 MiB do not fit into an app's heap. */
final class Body {
    static final Body NONE = new Body(0, null, null);

    final long sizeBytes;
    final File file;
    /** Why the bytes could not be stored; they have been read past all the same. */
    final IOException failure;

    Body(long sizeBytes, File file, IOException failure) {
        this.sizeBytes = sizeBytes;
        this.file = file;
        this.failure = failure;
    }

    /** Delete what nobody has taken; a file that was renamed has been taken. */
    void discard() {
        if (file != null) {
            file.delete();
            file.getParentFile().delete(); // refused while the file, renamed, is in it
        }
    }
}
