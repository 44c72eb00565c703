"""How Telegram says no."""

from donate1024.sandbox import Json


class Refused(Exception):
    """A call that was not accepted: the HTTP status, Telegram's description, and `parameters` where it sends them."""

    def __init__(self, status: int, description: str, parameters: Json | None = None) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters

    @property
    def body(self) -> Json:
        body: Json = {"ok": False, "error_code": self.status, "description": self.description}
        return body | ({"parameters": self.parameters} if self.parameters else {})


def bad_request(description: str) -> Refused:
    return Refused(400, f"Bad Request: {description}")


def too_many_requests(seconds: int) -> Refused:
    return Refused(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
