package dev.webviewbridge.host.core;

/** A request of a client. */
final class Request {
    static final long MAX_ID = (1L << 53) - 1;

    final long id;
    final String type;
    final Fields fields;
    final Body body;

    private Request(long id, String type, Fields fields, Body body) {
        this.id = id;
        this.type = type;
        this.fields = fields;
        this.body = body;
    }

    /** BadFrame without a valid id or type: the client could not match a reply. */
    static Request of(Frame frame) throws BadFrame {
        Object id = frame.header.get("id");
        Object type = frame.header.get("type");
        if (!(id instanceof Long) || (Long) id < 1 || (Long) id > MAX_ID) {
            throw new BadFrame("a request has no id from 1 to 2^53-1.");
        }
        if (!(type instanceof String) || ((String) type).isEmpty()) {
            throw new BadFrame("a request has no type.");
        }
        return new Request((Long) id, (String) type, new Fields(frame.header), frame.body);
    }

    String shownType() {
        return type.length() > 60 ? type.substring(0, 60) : type;
    }
}
