"""Who may ask. The studio serves one person, in a browser of theirs, on this machine.

- Host is the exact address with its port: a name that somebody points at 127.0.0.1 is refused (DNS rebinding).
- A request that changes something carries this Origin and JSON; any other Origin, or a browser that says the request
  comes from elsewhere (Sec-Fetch-Site), is refused whatever it asks for.
- A token, fresh in every run, is exchanged once per browser for a cookie that scripts cannot read and other sites
  cannot send. Its name has the port, as cookies do not know about ports.
- Bodies have a limit; answers tell the browser to load and run nothing from elsewhere, and to let nobody frame it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

__all__ = ["MOST_BYTES", "Access", "Guard"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 8 * 2**20
"""Of a request's body."""
READS, WRITES = ("GET", "HEAD"), ("POST", "PUT", "DELETE")
POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
LOCKED = (
    "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>meip studio</title><h1>This studio is locked</h1>"
    "<p>Open the link that <code>meip studio</code> printed when it started. It is new with every start.</p></html>"
)


@dataclass(frozen=True)
class Access:
    """What opens this run of the studio."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def hosts(self) -> tuple[str, ...]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(f"http://{host}" for host in self.hosts)

    @property
    def cookie(self) -> str:
        return f"meip_studio_{self.port}"

    @property
    def link(self) -> str:
        return f"{self.origins[0]}/?token={self.token}"


class Guard:
    """In front of everything."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _sealed(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        refused = self._from_elsewhere(scope, headers)
        if refused:
            await _answer(send, *refused)
        elif scope["path"] == "/" and b"token=" in scope["query_string"]:
            await self._exchange(scope, send)
        elif not self._known(headers):
            await _locked(scope, send)
        else:
            refused = _not_json(scope, headers)
            if refused:
                await _answer(send, *refused)
            else:
                await self._limited(scope, receive, send, headers)

    def _from_elsewhere(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        if headers.get("host", []) not in [[host] for host in self.access.hosts]:
            return 421, "this studio answers at its own address only"
        if scope["method"] not in READS + WRITES:
            return 405, "no such method"
        here = [f"http://{headers['host'][0]}"]
        origin = headers.get("origin")
        if origin is not None and origin != here:
            return 403, "this request comes from another page"
        if origin is None and scope["method"] in WRITES:
            return 403, "a request that changes something says where it comes from"
        site = headers.get("sec-fetch-site", ["none"])
        if site not in (["none"], ["same-origin"]) and not (scope["path"] == "/" and _navigation(headers)):
            return 403, "this request comes from another page"
        return None

    def _known(self, headers: dict[str, list[str]]) -> bool:
        for line in headers.get("cookie", ()):
            try:
                found = SimpleCookie(line).get(self.access.cookie)
            except CookieError:
                continue
            if found is not None and secrets.compare_digest(found.value.encode(), self.access.session.encode()):
                return True
        return False

    async def _exchange(self, scope: Scope, send: Send) -> None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] != "GET" or not secrets.compare_digest(given.encode(), self.access.token.encode()):
            await _locked(scope, send)
            return
        cookie = f"{self.access.cookie}={self.access.session}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _limited(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, list[str]]) -> None:
        """Read the body first, as far as the limit: what is larger is not looked at."""
        told = headers.get("content-length", ["0"])[0]
        body = b""
        if not told.isdigit() or int(told) > MOST_BYTES:
            await _answer(send, 413, _TOO_LARGE)
            return
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MOST_BYTES:
                await _answer(send, 413, _TOO_LARGE)
                return
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, send)


_TOO_LARGE = f"larger than {MOST_BYTES // 2**20} MB"


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _navigation(headers: dict[str, list[str]]) -> bool:
    """A link to the studio's front page, which shows nothing without the cookie that such a request does not bring."""
    return headers.get("sec-fetch-mode") == ["navigate"] and headers.get("sec-fetch-dest") == ["document"]


def _not_json(scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
    if scope["method"] not in WRITES:
        return None
    kind = headers.get("content-type", [""])[0].partition(";")[0].strip().lower()
    return None if kind == "application/json" else (415, "changes are asked for in JSON")


def _sealed(send: Send) -> Send:
    """Every answer carries the policy."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name for name, _ in HEADERS}
            kept = [(n, v) for n, v in message.get("headers", []) if n.lower() not in names]
            message = {**message, "headers": [*kept, *HEADERS]}
        await send(message)

    return sealed


async def _answer(send: Send, status: int, text: str) -> None:
    await _send(send, status, json.dumps({"error": text}).encode(), b"application/json")


async def _locked(scope: Scope, send: Send) -> None:
    if scope["path"].startswith("/api/"):
        await _answer(send, 401, "this studio was started anew: open the link that it printed")
    else:
        await _send(send, 401, LOCKED.encode(), b"text/html; charset=utf-8")


async def _send(send: Send, status: int, body: bytes, kind: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
