package dev.webviewbridge.host.core;

import java.util.Arrays;
import java.util.Map;
import java.util.regex.Pattern;

/** Validates the fields of a request (PROTOCOL.md §5); each method refuses with `bad_request`. */
final class Fields {
    static final int MAX_SIDE_PX = 10_000;
    static final int MAX_AREA_PX = 40_000_000;
    private static final Pattern PROFILE = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern TAB = Pattern.compile("[A-Za-z0-9]{1,32}");

    private final Map<String, Object> fields;

    Fields(Map<String, Object> fields) {
        this.fields = fields;
    }

    /** Whether the field exists and is not null. */
    boolean has(String name) {
        return fields.get(name) != null;
    }

    Object raw(String name) {
        return fields.get(name);
    }

    int integer(String name, int low, int high) throws Refusal {
        Object value = fields.get(name);
        if (!(value instanceof Long) || (Long) value < low || (Long) value > high) {
            throw bad(name, "an integer from " + low + " to " + high);
        }
        return (int) (long) (Long) value;
    }

    int integer(String name, int low, int high, int otherwise) throws Refusal {
        return fields.containsKey(name) ? integer(name, low, high) : otherwise;
    }

    /** A string; its length is counted in characters (code points). */
    String text(String name, int low, int high) throws Refusal {
        Object value = fields.get(name);
        if (value instanceof String) {
            String text = (String) value;
            int length = text.codePointCount(0, text.length());
            if (length >= low && length <= high) {
                return text;
            }
        }
        throw bad(name, "a string of " + low + " to " + high + " characters");
    }

    boolean flag(String name) throws Refusal {
        Object value = fields.containsKey(name) ? fields.get(name) : Boolean.FALSE;
        if (!(value instanceof Boolean)) {
            throw bad(name, "true or false");
        }
        return (Boolean) value;
    }

    /** One of the allowed strings; the first is the default. */
    String oneOf(String name, String... allowed) throws Refusal {
        Object value = fields.containsKey(name) ? fields.get(name) : allowed[0];
        if (!(value instanceof String) || !Arrays.asList(allowed).contains(value)) {
            throw bad(name, "one of " + String.join(", ", allowed));
        }
        return (String) value;
    }

    String tab() throws Refusal {
        Object value = fields.get("tab");
        if (!(value instanceof String) || !TAB.matcher((String) value).matches()) {
            throw bad("tab", "a tab id");
        }
        return (String) value;
    }

    /** Null for the default profile. */
    String profile() throws Refusal {
        Object value = fields.get("profile");
        if (value != null && !(value instanceof String && PROFILE.matcher((String) value).matches())) {
            throw bad("profile", "1 to 64 of A-Z a-z 0-9 _ -");
        }
        return (String) value;
    }

    Size size() throws Refusal {
        int widthPx = integer("width_px", 1, MAX_SIDE_PX);
        int heightPx = integer("height_px", 1, MAX_SIDE_PX);
        if (widthPx * heightPx > MAX_AREA_PX) {
            String message = widthPx + " x " + heightPx + " exceeds " + MAX_AREA_PX + " pixels.";
            throw new Refusal("bad_request", message).with("field", "height_px");
        }
        return new Size(widthPx, heightPx, integer("density_dpi", 72, 640));
    }

    private Refusal bad(String name, String wanted) {
        String shown = String.valueOf(fields.get(name));
        String cut = shown.length() > 60 ? shown.substring(0, 60) : shown;
        return new Refusal("bad_request", name + " is " + cut + ", not " + wanted + ".").with("field", name);
    }
}
