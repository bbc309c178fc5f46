package dev.webviewbridge.host.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Strict JSON (RFC 8259) for the protocol: no repeated keys, no lone surrogates, at most 16 levels.
 *
 * <p>Android's org.json accepts comments, single quotes, repeated keys and any depth. Integers are read as Long,
 * other numbers as Double, objects as LinkedHashMap, arrays as ArrayList.
 */
public final class Json {
    static final int MAX_DEPTH = 16;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Parses an object; BadFrame for anything else. */
    public static Map<String, Object> parseObject(String text) throws BadFrame {
        Json json = new Json(text);
        Object value = json.document();
        if (!(value instanceof Map)) {
            throw new BadFrame("a header is not a JSON object.");
        }
        @SuppressWarnings("unchecked")
        Map<String, Object> object = (Map<String, Object>) value;
        return object;
    }

    /** One line of JSON; a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private Object document() throws BadFrame {
        skipSpace();
        Object value = value();
        skipSpace();
        if (at != text.length()) {
            throw broken("something follows the value");
        }
        return value;
    }

    private Object value() throws BadFrame {
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() throws BadFrame {
        Map<String, Object> found = new LinkedHashMap<>();
        enter();
        if (peek() != '}') {
            do {
                skipSpace();
                String key = string();
                skipSpace();
                expect(':');
                skipSpace();
                Object value = value();
                if (found.containsKey(key)) {
                    throw broken("a key is repeated");
                }
                found.put(key, value);
                skipSpace();
            } while (skipComma());
        }
        leave('}');
        return found;
    }

    private List<Object> array() throws BadFrame {
        List<Object> found = new ArrayList<>();
        enter();
        if (peek() != ']') {
            do {
                skipSpace();
                found.add(value());
                skipSpace();
            } while (skipComma());
        }
        leave(']');
        return found;
    }

    private void enter() throws BadFrame {
        if (++depth > MAX_DEPTH) {
            throw broken("it is nested deeper than " + MAX_DEPTH);
        }
        at++;
        skipSpace();
    }

    private void leave(char mark) throws BadFrame {
        expect(mark);
        depth--;
    }

    private boolean skipComma() {
        if (at < text.length() && text.charAt(at) == ',') {
            at++;
            return true;
        }
        return false;
    }

    private String string() throws BadFrame {
        expect('"');
        StringBuilder found = new StringBuilder();
        while (true) {
            char mark = next();
            if (mark == '"') {
                break;
            } else if (mark == '\\') {
                found.append(escaped());
            } else if (mark < 0x20) {
                throw broken("a string has a control character");
            } else {
                found.append(mark);
            }
        }
        for (int i = 0; i < found.length(); i++) {
            if (isLoneSurrogate(found, i)) {
                throw broken("a string has a lone surrogate");
            }
        }
        return found.toString();
    }

    private char escaped() throws BadFrame {
        char mark = next();
        int plain = "\"\\/bfnrt".indexOf(mark);
        if (plain >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }
        if (mark != 'u') {
            throw broken("an unknown escape");
        }
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Hex.digit(Character.toLowerCase(next()));
            if (digit < 0) {
                throw broken("a \\u without four hex digits");
            }
            unit = unit * 16 + digit;
        }
        return (char) unit;
    }

    private Object number() throws BadFrame {
        int start = at;
        skip('-');
        if (!skip('0')) {
            digits();
        }
        boolean isInteger = true;
        if (skip('.')) {
            digits();
            isInteger = false;
        }
        if (skip('e') || skip('E')) {
            if (!skip('+')) {
                skip('-');
            }
            digits();
            isInteger = false;
        }
        String found = text.substring(start, at);
        if (isInteger) {
            try {
                return Long.valueOf(found);
            } catch (NumberFormatException beyondLong) {
                return Double.valueOf(found); // no field of the protocol is that large
            }
        }
        return Double.valueOf(found);
    }

    private void digits() throws BadFrame {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw broken("a value was expected");
        }
    }

    private Object word(String word, Object value) throws BadFrame {
        if (!text.startsWith(word, at)) {
            throw broken("an unknown word");
        }
        at += word.length();
        return value;
    }

    private boolean skip(char mark) {
        if (at < text.length() && text.charAt(at) == mark) {
            at++;
            return true;
        }
        return false;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() throws BadFrame {
        if (at >= text.length()) {
            throw broken("it ends too early");
        }
        return text.charAt(at);
    }

    private char next() throws BadFrame {
        char mark = peek();
        at++;
        return mark;
    }

    private void expect(char mark) throws BadFrame {
        if (next() != mark) {
            at--;
            throw broken("'" + mark + "' was expected");
        }
    }

    private BadFrame broken(String why) {
        return new BadFrame("a header is not the JSON that the protocol allows: " + why + " (character " + at + ").");
    }

    static boolean isLoneSurrogate(CharSequence text, int at) {
        char unit = text.charAt(at);
        if (Character.isHighSurrogate(unit)) {
            return at + 1 >= text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        }
        return Character.isLowSurrogate(unit) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            String comma = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                writeString((String) entry.getKey(), out.append(comma));
                write(entry.getValue(), out.append(':'));
                comma = ",";
            }
            out.append(comma.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String comma = "[";
            for (Object item : (Iterable<?>) value) {
                write(item, out.append(comma));
                comma = ",";
            }
            out.append(comma.equals("[") ? "[]" : "]");
        } else if (value instanceof String) {
            writeString((String) value, out);
        } else if (value == null || value instanceof Integer || value instanceof Long || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Double && !((Double) value).isNaN() && !((Double) value).isInfinite()) {
            out.append(value);
        } else {
            throw new IllegalArgumentException("not for JSON: " + value);
        }
    }

    private static void writeString(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char mark = text.charAt(i);
            if (mark == '"' || mark == '\\') {
                out.append('\\').append(mark);
            } else if (mark < 0x20) {
                out.append("\\u00").append(mark < 0x10 ? '0' : '1').append(Hex.DIGITS.charAt(mark & 15));
            } else {
                out.append(isLoneSurrogate(text, i) ? '\uFFFD' : mark);
            }
        }
        out.append('"');
    }
}
