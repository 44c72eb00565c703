"""The HTTP under python-telegram-bot: aiohttp, telling what was never sent from what perhaps was."""

import json
from http import HTTPStatus
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, RequestData
from yarl import URL

CONNECT_WITHIN = 5.0  # seconds, the wait for a free connection of the pool included
READ_WITHIN = 30.0  # seconds; the library's own 5 make many more calls whose outcome nobody knows
# Shorter than any hold and any server's: one that died meanwhile, without a word, would swallow a call.
KEEP_ALIVE = 3.0  # seconds

LARGEST_ANSWER = 1_000_000  # bytes, unpacked; one about a message has a few thousand
LONGEST_WAIT = 7 * 24 * 3600  # seconds: 10 072 have been seen; what is beyond a week is no wait

# What aiohttp raises before it has a connection to write to. Everything else may come after the request went out.
NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)


class NeverSent(Exception):
    """The `__cause__` of an error before which not one byte of the request was written."""


class AiohttpRequest(BaseRequest):
    """One pool of connections, for one event loop.

    An error's text never repeats the address, in which the bot's token stands: aiohttp writes it into its own.
    """

    def __init__(self, *, connections: int, api_url: str, largest_answer: int = LARGEST_ANSWER) -> None:
        self._connections = connections
        self._largest_answer = largest_answer
        self._proxy = proxy_for(api_url)
        self._session: aiohttp.ClientSession

    @property
    def read_timeout(self) -> float:
        return READ_WITHIN

    async def initialize(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=KEEP_ALIVE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self.USER_AGENT},
            proxy=self._proxy,
        )

    async def shutdown(self) -> None:
        await self._session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | bytes | None = None,
        read_timeout: object = BaseRequest.DEFAULT_NONE,
        *_: object,
        **__: object,
    ) -> tuple[int, bytes]:
        """Make one call, once: the library posts every one of the Bot API, and aiohttp repeats no POST.

        Of the library's timeouts only `read_timeout` counts, and no call goes without one.
        """
        read = read_timeout if isinstance(read_timeout, int | float) else READ_WITHIN
        timeout = aiohttp.ClientTimeout(total=CONNECT_WITHIN + read, connect=CONNECT_WITHIN, sock_read=read)
        try:
            async with self._session.request(
                method, url, data=_body(request_data), timeout=timeout, allow_redirects=False
            ) as answer:
                return answer.status, meant(answer.status, await self._whole(answer))
        except NEVER_SENT as error:
            raise NetworkError(f"not sent: {type(error).__name__}") from NeverSent
        except TimeoutError as error:
            raise TimedOut(f"no answer: {type(error).__name__}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(f"no answer: {type(error).__name__}") from None

    async def _whole(self, answer: aiohttp.ClientResponse) -> bytes:
        """The body, read piece by piece: `answer.read()` unpacks two gigabytes out of two megabytes."""
        body = bytearray()
        async for piece in answer.content.iter_any():
            body += piece
            if len(body) > self._largest_answer:
                raise NetworkError("no answer: it is too large")
        return bytes(body)

    async def post_form(self, url: str, form: bytes) -> Any:
        """Make a call whose form is encoded already; errors are those of `post`, which only hands the form through."""
        return await self.post(url, form)  # type: ignore[arg-type]

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Read an answer of the Bot API.

        Raises:
            TelegramError: it is none: an empty body, a page of some proxy.
        """
        try:
            answer = json.loads(payload)
        except ValueError:
            raise TelegramError("not an answer of the Bot API") from None
        if not isinstance(answer, dict) or not answer.keys() & {"result", "description"}:
            raise TelegramError("not an answer of the Bot API")
        return answer


def meant(status: int, body: bytes) -> bytes:
    """The answer with only those parameters that its status may carry.

    The library takes a `retry_after` or a new chat id at its word, whatever the status; but of a 5xx nobody knows
    whether the message went out, and one known as not sent would be sent again. A 429 always says how long.
    """
    if status == HTTPStatus.OK:
        return body
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        if status != HTTPStatus.TOO_MANY_REQUESTS:
            return body
        answer = {"ok": False, "description": "Too Many Requests"}
    given = answer.pop("parameters", None)
    given = given if isinstance(given, dict) else {}
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        answer["parameters"] = {"retry_after": _whole_seconds(given.get("retry_after"))}
    elif status == HTTPStatus.BAD_REQUEST and _is_chat_id(moved_to := given.get("migrate_to_chat_id")):
        answer["parameters"] = {"migrate_to_chat_id": moved_to}
    return json.dumps(answer).encode()


def _whole_seconds(wait: object) -> int:
    return min(max(wait, 1), LONGEST_WAIT) if type(wait) is int else 1


def _is_chat_id(value: object) -> bool:
    return type(value) is int and value.bit_length() < 64  # what a column takes


def proxy_for(api_url: str) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY ask for.

    Looked up once: aiohttp's `trust_env` reads the environment and ~/.netrc in a thread at every request.
    """
    address = URL(api_url)
    if proxy_bypass(str(address.host)):
        return None
    return getproxies().get(address.scheme)


def _body(data: RequestData | bytes | None) -> aiohttp.FormData | aiohttp.BytesPayload | dict[str, str] | None:
    if data is None:
        return None
    if isinstance(data, bytes):
        return aiohttp.BytesPayload(data, content_type="application/x-www-form-urlencoded")
    if not data.contains_files:
        return data.json_parameters
    form = aiohttp.FormData(data.json_parameters)
    for field, (filename, content, media_type) in data.multipart_data.items():
        form.add_field(field, content, filename=filename, content_type=media_type)
    return form
