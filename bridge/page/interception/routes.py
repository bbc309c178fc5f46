"""Requests answered, changed or refused by the test: what `page.route` keeps."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from bridge.errors import UsageError
from bridge.page.interception.fetch_domain import Rank
from bridge.page.interception.fetch_messages import Abort, Fulfil, PausedRequest, Proceed, RouteAction
from bridge.page.target.attachment import Attachment
from bridge.page.url_pattern import UrlPattern, url_pattern

RouteHandler: TypeAlias = RouteAction | Callable[[PausedRequest], RouteAction | Awaitable[RouteAction | None] | None]


@dataclass(slots=True, eq=False)
class _Route:
    pattern: UrlPattern
    handler: RouteHandler
    remove: Callable[[], Awaitable[None]] | None = field(default=None)

    async def decide(self, request: PausedRequest) -> RouteAction | None:
        if not self.pattern.matches(request.url):
            return None
        if isinstance(self.handler, Abort | Fulfil | Proceed):
            return self.handler
        answer = self.handler(request)
        verdict = await answer if inspect.isawaitable(answer) else answer
        if verdict is not None and not isinstance(verdict, Abort | Fulfil | Proceed):
            raise UsageError(f"the route for {self.pattern.text!r} answered with {type(verdict).__name__}")
        return verdict


class Routes:
    """A page's routes; they hold for every attachment that the page will have."""

    def __init__(self) -> None:
        self._routes: list[_Route] = []

    async def add(
        self, attachment: Attachment, wanted: str | re.Pattern[str], handler: RouteHandler, *, timeout_s: float
    ) -> None:
        if not callable(handler) and not isinstance(handler, Abort | Fulfil | Proceed):
            raise UsageError(
                f"a route's handler is {type(handler).__name__}",
                hint="Give Abort(), Fulfil(…), Proceed(…) or a function.",
            )
        route = _Route(url_pattern(wanted), handler)
        await self._install(attachment, route, timeout_s)
        self._routes.append(route)

    async def remove(self, wanted: str | re.Pattern[str] | None) -> int:
        """Take away the routes of that pattern, or all; how many there were."""
        text = wanted.pattern if isinstance(wanted, re.Pattern) else wanted
        gone = [route for route in self._routes if text is None or route.pattern.text == text]
        self._routes = [route for route in self._routes if route not in gone]
        for route in gone:
            if route.remove is not None:
                await route.remove()
        return len(gone)

    async def apply(self, attachment: Attachment, *, timeout_s: float) -> None:
        """Install all of them in a fresh attachment."""
        for route in self._routes:
            await self._install(attachment, route, timeout_s)

    @staticmethod
    async def _install(attachment: Attachment, route: _Route, timeout_s: float) -> None:
        route.remove = await attachment.fetching.add(
            route.decide, rank=Rank.ROUTE, patterns=(route.pattern.cdp,), timeout_s=timeout_s
        )
