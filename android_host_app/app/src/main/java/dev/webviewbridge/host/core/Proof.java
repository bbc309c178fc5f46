package dev.webviewbridge.host.core;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The proofs that each end knows the token (PROTOCOL.md §4). */
final class Proof {
    private Proof() {}

    static String ofClient(byte[] token, String clientNonce, String socketName) {
        return hmac(token, "client|" + clientNonce + "|" + socketName);
    }

    static String ofHost(byte[] token, String clientNonce, String hostNonce, String socketName) {
        return hmac(token, "host|" + clientNonce + "|" + hostNonce + "|" + socketName);
    }

    /** Compares in constant time; anything but 64 hex digits is unequal. */
    static boolean equal(String expected, Object shown) {
        return Hex.isHex(shown, 64) && MessageDigest.isEqual(ascii(expected), ascii((String) shown));
    }

    private static String hmac(byte[] token, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(token, "HmacSHA256"));
            return Hex.of(mac.doFinal(ascii(text)));
        } catch (GeneralSecurityException impossible) { // every platform has HmacSHA256
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
