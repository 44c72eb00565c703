"""How Bluesky and Gemini answer when all is well."""

import base64
import json

from tests.http_peer import Asked


def as_bluesky(asked: Asked) -> tuple[int, object]:
    handle = json.loads(asked.body)["identifier"]
    token = _jwt({"exp": 4_000_000_000, "iat": 1, "scope": "com.atproto.appPass", "sub": "did:plc:abc"})
    return 200, {"did": "did:plc:abc", "handle": handle, "accessJwt": token, "refreshJwt": token, "active": True}


def as_gemini(asked: Asked) -> tuple[int, object]:
    return 200, {"name": asked.path.removeprefix("/v1/")}


def _jwt(claims: dict[str, object]) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()) for part in ({"alg": "none"}, claims))
    return ".".join(part.decode().rstrip("=") for part in parts) + ".x"
