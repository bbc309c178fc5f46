"""Routes (`page.route`): requests that the caller fulfils, changes or aborts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from bridge.deadline import Deadline
from bridge.errors import UsageError
from bridge.page.fetch_domain import Rank
from bridge.page.fetch_messages import Abort, Fulfil, PausedRequest, Proceed, RouteAction
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
        result = self.handler(request)
        action = await result if inspect.isawaitable(result) else result
        if action is not None and not isinstance(action, Abort | Fulfil | Proceed):
            raise UsageError(f"the handler of the route {self.pattern.text!r} returned {type(action).__name__}")
        return action


class Routes:
    """A page's routes. They apply to every attachment that the page gets."""

    def __init__(self) -> None:
        self._routes: list[_Route] = []

    async def add(
        self, attachment: Attachment, pattern: str | re.Pattern[str], handler: RouteHandler, deadline: Deadline
    ) -> None:
        if not callable(handler) and not isinstance(handler, Abort | Fulfil | Proceed):
            raise UsageError(
                f"a route's handler must be an action or a function, not {type(handler).__name__}",
                hint="Use Abort(), Fulfil(…), Proceed(…) or a function that returns one.",
            )
        route = _Route(url_pattern(pattern), handler)
        await self._install(attachment, route, deadline)
        self._routes.append(route)

    async def remove(self, pattern: str | re.Pattern[str] | None) -> int:
        """Remove the routes with this pattern, or all; returns how many there were."""
        text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
        removed = [route for route in self._routes if text is None or route.pattern.text == text]
        self._routes = [route for route in self._routes if route not in removed]
        for route in removed:
            if route.remove is not None:
                await route.remove()
        return len(removed)

    async def apply(self, attachment: Attachment, deadline: Deadline) -> None:
        """Install all routes in a new attachment."""
        for route in self._routes:
            await self._install(attachment, route, deadline)

    @staticmethod
    async def _install(attachment: Attachment, route: _Route, deadline: Deadline) -> None:
        route.remove = await attachment.fetching.add(
            route.decide, rank=Rank.ROUTE, patterns=(route.pattern.cdp,), timeout_s=deadline.remaining_s
        )
