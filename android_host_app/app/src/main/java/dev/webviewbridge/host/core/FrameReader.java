package dev.webviewbridge.host.core;

import java.io.EOFException;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Parses frames from a byte stream (PROTOCOL.md §2). Lengths are checked before the rest is read. */
final class FrameReader {
    static final int MAX_HEADER_BYTES = 64 * 1024;
    static final int MAX_BODY_BYTES = 128 * 1024 * 1024;
    static final int MAX_HELLO_BYTES = 4096;

    private final InputStream in;
    private final Spool spool;
    private final byte[] piece = new byte[64 * 1024];
    private int maxHeaderBytes = MAX_HELLO_BYTES;
    private int maxBodyBytes = 0;

    /** Creates files for bodies. */
    interface Spool {
        File newFile() throws IOException;
    }

    FrameReader(InputStream in, Spool spool) {
        this.in = in;
        this.spool = spool;
    }

    /** Accepts frames of full size after authentication. */
    void widen() {
        maxHeaderBytes = MAX_HEADER_BYTES;
        maxBodyBytes = MAX_BODY_BYTES;
    }

    /** The next frame; null at the end of the stream, EOFException inside a frame. */
    Frame next() throws IOException, BadFrame {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        byte[] prefix = new byte[8];
        prefix[0] = (byte) first;
        readFully(prefix, 1, 7);
        ByteBuffer lengths = ByteBuffer.wrap(prefix);
        long headerBytes = lengths.getInt() & 0xFFFFFFFFL;
        long bodyBytes = lengths.getInt() & 0xFFFFFFFFL;
        if (headerBytes < 2 || headerBytes > maxHeaderBytes) {
            throw new BadFrame("a frame has a header of " + headerBytes + " bytes; 2 to " + maxHeaderBytes + " are allowed.");
        }
        if (bodyBytes > maxBodyBytes) {
            throw new BadFrame("a frame has a body of " + bodyBytes + " bytes; " + maxBodyBytes + " are allowed.");
        }
        byte[] header = new byte[(int) headerBytes];
        readFully(header, 0, header.length);
        Body body = bodyBytes == 0 ? Body.NONE : readBody(bodyBytes);
        try {
            return new Frame(Json.parseObject(decode(header)), body);
        } catch (BadFrame broken) {
            body.discard();
            throw broken;
        }
    }

    private static String decode(byte[] header) throws BadFrame {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(header))
                    .toString();
        } catch (CharacterCodingException notUtf8) {
            throw new BadFrame("a header is not UTF-8.");
        }
    }

    private Body readBody(long bodyBytes) throws IOException {
        File file = null;
        OutputStream out = null;
        IOException failure = null;
        boolean isWhole = false;
        try {
            try {
                file = spool.newFile();
                out = new FileOutputStream(file);
            } catch (IOException noRoom) {
                failure = noRoom;
            }
            for (long left = bodyBytes; left > 0; ) {
                int got = in.read(piece, 0, (int) Math.min(piece.length, left));
                if (got < 0) {
                    throw new EOFException();
                }
                left -= got;
                if (failure == null) {
                    try {
                        out.write(piece, 0, got);
                    } catch (IOException noRoom) {
                        failure = noRoom;
                    }
                }
            }
            isWhole = failure == null;
        } finally {
            if (out != null) {
                try {
                    out.close();
                } catch (IOException noRoom) {
                    failure = noRoom;
                    isWhole = false;
                }
            }
            if (!isWhole && file != null) {
                new Body(0, file, null).discard();
            }
        }
        return new Body(bodyBytes, isWhole ? file : null, failure);
    }

    private void readFully(byte[] into, int from, int count) throws IOException {
        for (int done = 0; done < count; ) {
            int got = in.read(into, from + done, count - done);
            if (got < 0) {
                throw new EOFException();
            }
            done += got;
        }
    }
}
