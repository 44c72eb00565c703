"""One call of the Bot API as it arrived, and its parameters read as Telegram reads them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from donate1024.sandbox.refusals import bad_request


@dataclass(frozen=True, slots=True)
class Call:
    bot_id: int
    fields: Mapping[str, str]
    uploads: Mapping[str, bytes]

    def text(self, name: str) -> str:
        return self.fields.get(name, "")

    @property
    def chat_id(self) -> str:
        """The chat that the call is about, in the words of the call; empty where it is about none."""
        scope = self.parsed("scope", {}) if "scope" in self.fields else {}
        return self.text("chat_id") or str(scope.get("chat_id", "") if isinstance(scope, dict) else "")

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Telegram puts a number that is out of bounds onto the bound, and takes what is no number for the default."""
        try:
            value = int(self.fields.get(name, default))
        except ValueError:
            value = default
        return min(max(value, low), high)

    def flag(self, name: str) -> bool:
        return self.text(name).lower() in {"true", "yes", "1"}

    def parsed(self, name: str, default: Any) -> Any:
        """The JSON that a parameter holds."""
        try:
            return json.loads(self.fields[name]) if self.text(name) else default
        except ValueError:
            raise bad_request(f"can't parse {name} JSON object") from None


async def read(request: web.Request, bot_id: int) -> Call:
    """The call's parameters from its address and its body: a form, a multipart form or JSON."""
    fields: dict[str, str] = dict(request.query)
    uploads: dict[str, bytes] = {}
    if request.content_type == "application/json":
        try:
            given = await request.json()
            fields |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
        except (ValueError, AttributeError):
            raise bad_request("can't parse JSON object") from None
    else:
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                uploads[name] = value.file.read()
            else:
                fields[name] = value if isinstance(value, str) else value.decode()
    try:
        "".join(fields.values()).encode()
    except UnicodeEncodeError:
        raise bad_request("strings must be encoded in UTF-8") from None
    return Call(bot_id, fields, uploads)
