"""The devtools server of a WebView: Chromium's, with what WebView refuses, changes or drops."""
