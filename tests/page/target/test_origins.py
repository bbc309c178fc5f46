"""What pages may have stored something under is counted however much they ask for."""

from __future__ import annotations

from bridge.page.logs.session_logs import SessionLogs


def test_many_requests_do_not_evict_an_origin() -> None:
    logs = SessionLogs(requests_kept=10)
    tell = logs.reader("t1")
    tell("Page.frameNavigated", {"frame": {"id": "F", "url": "https://first.example/a", "securityOrigin": ""}}, None)
    for number in range(100):
        request = {"url": f"https://cdn.example/{number}", "method": "GET", "headers": {}}
        tell("Network.requestWillBeSent", {"requestId": str(number), "request": request, "timestamp": 1.0}, None)
    blob = {"id": "F", "url": "blob:https://second.example/1", "securityOrigin": "https://second.example"}
    tell("Page.frameNavigated", {"frame": blob}, None)
    tell("Page.frameNavigated", {"frame": {"id": "F", "url": "about:blank", "securityOrigin": "://"}}, None)
    logs.reader("t2")("Page.frameNavigated", {"frame": {"id": "G", "url": "http://user@third.example:81/x"}}, None)
    assert logs.origins == {
        "t1": {"https://first.example", "https://second.example"},
        "t2": {"http://third.example:81"},
    }


def test_malformed_event_is_ignored() -> None:
    logs = SessionLogs()
    logs.reader("t1")("Page.frameNavigated", {"frame": None}, None)
    logs.reader("t1")("Page.frameNavigated", {"frame": {"url": "http://[broken"}}, None)
    assert logs.origins == {}
