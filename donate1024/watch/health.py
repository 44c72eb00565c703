"""/healthz: every part with its age; /livez: that this process answers."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from time import monotonic
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from health_check.base import HealthCheck
from health_check.exceptions import ServiceUnavailable
from health_check.views import HealthCheckView

from donate1024.watch.judging import Look, judge
from donate1024.watch.looking import Seen, look as look_at_all

GOOD_FOR = 1.0  # seconds: however many ask, the servers are asked once a second
_BEGAN = monotonic()


@dataclass
class Part(HealthCheck):  # type: ignore[misc]  # the library ships no types
    part: str
    age: float | None = field(repr=False)  # seconds; None: never, or not to be known now
    is_red: bool = field(repr=False)
    detail: Mapping[str, Any] = field(repr=False)

    async def run(self) -> None:
        if self.is_red:
            raise ServiceUnavailable("no sign of it" if self.age is None else f"silent for {self.age:.0f} s")


class Latest:
    """The latest look of this process, shared by whoever asks at the same time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._seen, self._at = Seen({}, {}), -inf

    async def look(self) -> Seen:
        """Takes little more than 5 s, however many ask and whatever is frozen."""
        async with self._lock:
            if monotonic() - self._at > GOOD_FOR:
                self._seen, self._at = await look_at_all(), monotonic()
            return self._seen


class HealthView(HealthCheckView):  # type: ignore[misc]
    """JSON, unless the caller asks for one of the library's other formats (`?format=openmetrics`)."""

    latest = Latest()

    async def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        self.seen = await self.latest.look()
        answer: HttpResponse = await super().get(request, *args, **kwargs)
        if answer.status_code == 500:
            answer.status_code = 503  # it is the parts that fail, not this page
        return answer

    def get_checks(self) -> Iterator[Part]:
        up_for = monotonic() - _BEGAN
        ages = self.seen.ages
        look = Look(ages, awake_for=up_for, watched_for=up_for, unbroken=self.seen.unbroken)
        red = {found.rule.part: found.is_red for found in judge(look)}
        for part in [*red, *sorted(ages.keys() - red.keys())]:
            age = ages.get(part, inf)
            yield Part(part, age if isfinite(age) else None, red.get(part, False), self.seen.details.get(part, {}))

    def render_to_response(self, _context: object, *, status: int) -> HttpResponse:
        return self.render_to_response_json(status)

    def render_to_response_json(self, status: int) -> JsonResponse:
        parts = {
            result.check.part: {
                "ok": result.error is None,
                "age": None if result.check.age is None else round(result.check.age, 1),
                **result.check.detail,
            }
            for result in self.results
        }
        return JsonResponse({"ok": status == 200, "parts": parts}, status=status)


async def livez(_request: HttpRequest) -> HttpResponse:
    """Whether this process is to be restarted; it asks nobody, so that no other part's fault restarts it."""
    return HttpResponse("ok", content_type="text/plain")
