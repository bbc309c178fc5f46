"""Names of Playwright for Python that are missing or different here, each with the reason.

An AttributeError shows the reason, and tools/playwright_names.py writes the table of docs/playwright.md from it.
"""

from __future__ import annotations

_HANDLE = "handles of elements become stale silently; locators and refs do not. `evaluate` takes and returns values"
_EXPOSE = "a page could call your process at any time; `console` events and `evaluate` carry values out of the page"
_WORKERS = "WebView reports no workers as targets of a tab"
_SOCKETS = "not built; `page.network()` logs WebSockets and counts their messages"
_CLOCK = "not built; `add_init_script` can replace Date and timers"
_HIGHLIGHT = "`screenshot(annotate=True)` shows refs; `wvb view` shows the live page"
_HAR = "not built; `page.route` answers requests, and `page.har()` records them"
_LOGS = "`page.console()` and `page.network()` read the logs, which also hold earlier entries"
_SERVICE = "service workers of a WebView belong to its app, not to a tab"
_BROWSER = "no browser object: a session is one device and its host app"
_API = "use an HTTP client such as httpx for requests of your own test code"
_STORAGE = "`evaluate` reads and writes localStorage; `session.storage_state` saves all of it"
_PICK = "people pick elements in the live view (`wvb view`)"
_TIMING = "`page.network()` and `page.har()` have it"
_FRAMES = "locators search all frames, and `frame_locator` one of them"
_SNAPSHOT = (
    "not built: snapshots here leave out paragraphs, row groups and the names of rows, which Playwright's YAML has; "
    "compare `aria_snapshot()` with your own text"
)
_ROUTE = "a handler returns `Abort()`, `Fulfil(…)`, `Proceed(…)` or None, instead of calling the route"

#: "Class.name" of Playwright (and of our classes of other names) → why it is missing.
NOT_HERE: dict[str, str] = {
    **{
        f"Page.{name}": reason
        for names, reason in (
            ("cancel_pick_locator pick_locator", _PICK),
            ("clear_console_messages clear_page_errors console_messages page_errors requests", _LOGS),
            ("clock", _CLOCK),
            ("context", "a page has no reference to its session; keep the session that opened it"),
            ("eval_on_selector eval_on_selector_all", "`locator.evaluate` and `locator.evaluate_all`"),
            ("evaluate_handle query_selector query_selector_all", _HANDLE),
            ("expect_file_chooser", "`set_input_files` gives files to the input; a system dialog never opens"),
            ("expect_navigation", "deprecated in Playwright: `wait_for_url`"),
            ("expect_websocket route_web_socket", _SOCKETS),
            ("expect_worker workers", _WORKERS),
            ("expose_binding expose_function", _EXPOSE),
            ("frame frames main_frame", _FRAMES),
            ("get_by_ref", '`page.locator("ref=e7")`, or the ref itself: `page.click("e7")`'),
            ("hide_highlight", _HIGHLIGHT),
            ("local_storage session_storage", _STORAGE),
            ("opener", "`session.opener_of(page)`"),
            ("pdf", "WebView prints no PDF over DevTools"),
            ("request", _API),
            ("request_gc", "not built; `session.new_cdp_session` sends HeapProfiler.collectGarbage"),
            ("route_from_har", _HAR),
            ("screencast video", "`page.record()` and `page.recording()` make WebP and GIF files"),
            ("viewport_size", '`page.evaluate("[innerWidth, innerHeight]")`'),
            ("webmcp", "not in WebView"),
        )
        for name in names.split()
    },
    **{
        f"Locator.{name}": reason
        for names, reason in (
            ("describe description", "`repr(locator)` is its source, which errors and traces show"),
            ("drop", "`page.set_input_files` drops files on elements; `drag_to` drags elements"),
            ("element_handle element_handles evaluate_handle", _HANDLE),
            ("highlight hide_highlight", _HIGHLIGHT),
            ("normalize", "`match.role` and `match.name` of `locator.matches()`"),
            ("type", "deprecated in Playwright: `fill` or `press_sequentially`"),
            ("visible", "`filter(visible=True)`"),
            ("wait_for_function", "`page.wait_for_function`, or `expect`"),
            ("within", "`locator.locator(…)`"),
        )
        for name in names.split()
    },
    **{
        f"{session}.{name}": reason
        for names, reason in (
            ("background_pages service_workers", _SERVICE),
            ("browser", _BROWSER),
            ("clear_permissions", "a WebView stores no permissions; `page.set_permissions` sets those of Chrome"),
            ("clock", _CLOCK),
            ("close is_closed", "the session ends with its `with` block"),
            ("credentials", "`page.set_http_credentials`"),
            ("debugger", "`wvb view` shows the live page"),
            ("expect_page", "`page.expect_popup`; `session.new_page` opens tabs"),
            (
                "expect_console_message expect_event on once remove_listener wait_for_event",
                "events belong to a page: `page.on`, `page.expect_event`; `session.logs` has those of all pages",
            ),
            ("expose_binding expose_function", _EXPOSE),
            ("request", _API),
            ("route_from_har", _HAR),
            ("route_web_socket", _SOCKETS),
        )
        for name in names.split()
        for session in ("BrowserContext", "Session")
    },
    "Download.cancel": "the file is complete when `expect_download` gives it",
    "Download.failure": "a download that fails is an error of `expect_download`",
    **{
        f"Request.{name}": reason
        for names, reason in (
            ("existing_response", "`await request.response()` returns at once where there is one"),
            ("frame", _FRAMES),
            ("headers_array", "`headers`; the protocol joins headers of one name"),
            ("post_data_buffer", "`post_data`; DevTools reports bodies as text"),
            ("redirected_from redirected_to sizes timing", _TIMING),
            ("service_worker", _SERVICE),
        )
        for name in names.split()
    },
    **{
        f"Response.{name}": reason
        for names, reason in (
            ("frame", _FRAMES),
            ("from_service_worker", _SERVICE),
            ("header_values headers_array", "`headers`; the protocol joins headers of one name"),
            ("http_version security_details server_addr", _TIMING),
        )
        for name in names.split()
    },
    **{f"Route.{name}": _ROUTE for name in ("abort", "continue_", "fallback", "fetch", "fulfill", "request")},
    **{
        f"{kind}.{name}": _SNAPSHOT
        for kind in ("LocatorAssertions", "PageAssertions")
        for name in ("to_match_aria_snapshot", "not_to_match_aria_snapshot")
    },
}

#: Names that are here and differ, each with how.
DIFFERENT: dict[str, str] = {
    "BrowserContext.grant_permissions": "needs `origin`; Unsupported in a WebView, whose app answers each request",
    "BrowserContext.storage_state": "takes the path of a file, which only its owner can read; returns counts",
    "BrowserContext.set_storage_state": "takes the path of such a file",
    "BrowserContext.tracing": '`start()` and `stop(path="trace.html")`; the trace is one HTML file',
    "BrowserContext.route": "handlers return an action; see Route",
    "Dialog.dismiss": "a dialog that no listener answers gets the page's answer (`page.answer_dialogs`)",
    "Download.save_as": "only below the session's `downloads_root`",
    "Page.expect_download": "needs the session's `downloads_root`",
    "Locator.aria_snapshot": "the text of `page.snapshot`, with refs",
    "Locator.input_value": "refuses password fields",
    "Locator.set_input_files": "only files below the session's `uploads_root`",
    "Locator.tap": "the same as `click`: a finger taps",
    "LocatorAssertions.to_have_value": "never knows the value of a password",
    "Page.add_init_script": "takes the source and returns a number, for `remove_init_script`",
    "Page.aria_snapshot": "the text of `page.snapshot`, with refs",
    "Page.drag_and_drop": "also by pixels: `by=(dx, dy)`",
    "Page.goto": "returns a result with url, title, status and cost, not a Response",
    "Page.locator": "searches all frames; an action on several matches is an error, also by `page.click`",
    "Page.pause": "opens the live view; closing its tab goes on",
    "Page.route": "handlers return an action; see Route",
    "Page.screenshot": "returns an object with `image_bytes`; `path` is written as well",
    "Page.set_input_files": "only files below the session's `uploads_root`",
    "Page.set_viewport_size": "lays the page out for that size; the tab keeps its own",
    "Page.wait_for_timeout": "in seconds",
    "Request.failure": "the net error as text",
    "Request.resource_type": "as the browser names it, in lower case",
}
