"""The timeouts of calls that give none."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.deadline import checked_seconds


@dataclass(slots=True)
class Timeouts:
    """A page's default timeouts in seconds; None for those of the methods."""

    default_s: float | None = None
    navigation_s: float | None = None

    def seconds(self, given: float | None, own_s: float) -> float:
        """The timeout of a call: what it gives, the page's default, or the method's own."""
        if given is not None:
            return checked_seconds("timeout_s", given)
        return self.default_s if self.default_s is not None else own_s

    def navigation_seconds(self, given: float | None, own_s: float) -> float:
        """The same for navigations and waits."""
        return self.navigation_s if given is None and self.navigation_s is not None else self.seconds(given, own_s)
