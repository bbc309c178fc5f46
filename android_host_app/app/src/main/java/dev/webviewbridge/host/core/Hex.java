package dev.webviewbridge.host.core;

import java.security.SecureRandom;

/** Lower-case hex digits of tokens, nonces and proofs. */
public final class Hex {
    static final String DIGITS = "0123456789abcdef";

    private static final SecureRandom RANDOM = new SecureRandom();

    private Hex() {}

    static int digit(char mark) {
        return DIGITS.indexOf(mark);
    }

    /** Whether it is a string of that many lower-case hex digits. */
    static boolean isHex(Object value, int digits) {
        if (!(value instanceof String) || ((String) value).length() != digits) {
            return false;
        }
        for (char mark : ((String) value).toCharArray()) {
            if (digit(mark) < 0) {
                return false;
            }
        }
        return true;
    }

    static String of(byte[] bytes) {
        StringBuilder hex = new StringBuilder(2 * bytes.length);
        for (byte item : bytes) {
            hex.append(DIGITS.charAt(item >> 4 & 15)).append(DIGITS.charAt(item & 15));
        }
        return hex.toString();
    }

    static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (digit(hex.charAt(2 * i)) << 4 | digit(hex.charAt(2 * i + 1)));
        }
        return bytes;
    }

    static String random(int bytes) {
        byte[] drawn = new byte[bytes];
        RANDOM.nextBytes(drawn);
        return of(drawn);
    }
}
