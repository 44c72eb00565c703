"""Photos: what Telegram takes, and the sizes it makes of one."""

import base64
import hashlib
import io
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

from donate1024.sandbox import Json
from donate1024.sandbox.refusals import bad_request

MAX_BYTES = 10 * 1024 * 1024
MAX_SIDES = 10_000
MAX_RATIO = 20
_SHOWN = 1280  # the longest side that Telegram keeps
_SMALL = 320
_SMALL_SUFFIX = "-m"


@dataclass(frozen=True, slots=True)
class Photo:
    file_id: str
    bot_id: int
    digest: str
    width: int
    height: int
    size: int

    def sizes(self) -> list[Json]:
        """As Telegram lists them: the largest last, each with a file_id of its own."""
        longest = max(self.width, self.height)
        small = [self._size(_SMALL, _SMALL_SUFFIX)] if longest > _SMALL else []
        return [*small, self._size(min(longest, _SHOWN), "")]

    def _size(self, longest: int, suffix: str) -> Json:
        scale = longest / max(self.width, self.height)
        return {
            "file_id": self.file_id + suffix,
            "file_unique_id": self.digest[:16] + suffix,
            "width": max(1, round(self.width * scale)),
            "height": max(1, round(self.height * scale)),
            "file_size": round(self.size * scale**2),
        }


def uploaded(content: bytes, *, bot_id: int, nth: int) -> Photo:
    """The photo that these bytes are; the `nth` upload of a bot gets a file_id of its own, as at Telegram.

    Raises:
        Refused: with Telegram's description. The picture is not decoded: only its header is read.
    """
    if not content:
        raise bad_request("there is no photo in the request")
    if len(content) > MAX_BYTES:
        raise bad_request(
            f"file of size {len(content)} bytes is too big for a photo; the maximum size is {MAX_BYTES} bytes"
        )
    try:
        with Image.open(io.BytesIO(content), formats=["JPEG", "PNG"]) as image:
            width, height = image.size
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise bad_request("IMAGE_PROCESS_FAILED") from None
    if width + height > MAX_SIDES or max(width, height) > MAX_RATIO * min(width, height):
        raise bad_request("PHOTO_INVALID_DIMENSIONS")
    digest = hashlib.sha256(content).hexdigest()
    secret = hashlib.sha256(f"{bot_id}:{nth}:{digest}".encode()).digest()
    file_id = "AgACAgIAAxkDAAM" + base64.urlsafe_b64encode(secret).decode().rstrip("=")
    return Photo(file_id, bot_id, digest, width, height, len(content))


def original(file_id: str) -> str:
    """The file_id of the whole photo, from that of any of its sizes."""
    return file_id.removesuffix(_SMALL_SUFFIX)
