from bridge.sync import AttachedSession, Page, expect


def test_the_session_is_that_of_the_app(webview_session: AttachedSession) -> None:
    assert webview_session.app.package == "org.example.sample"


def test_paying_says_so(page: Page) -> None:
    page.get_by_role("button", name="Pay").click()
    expect(page.get_by_role("status")).to_have_text("Paid")
