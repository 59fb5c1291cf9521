"""A page of another origin can do nothing to a studio that is open in the same browser: of 24 ways, none succeeds."""
# ruff: noqa: E501  (JavaScript, a line each)

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

JSON = "{'Content-Type': 'application/json'}"
DRAFT = """JSON.stringify({problem: "world:ritual"})"""
# Each answers true where it got through: read something of the studio, or changed something in it.
READ = "(r => r.ok && r.type !== 'opaque' && r.text().then(t => t.length > 0))"
ATTEMPTS = {
    "read the project": f"fetch(S + '/api/project').then{READ}",
    "read it with the cookie": f"fetch(S + '/api/project', {{credentials: 'include'}}).then{READ}",
    "read the page": f"fetch(S + '/', {{credentials: 'include'}}).then{READ}",
    "read it without cors": "fetch(S + '/api/project', {mode: 'no-cors', credentials: 'include'}).then(r => r.text()).then(t => t.length > 0)",
    "export everything": f"fetch(S + '/api/export/demonstrations.jsonl', {{credentials: 'include'}}).then{READ}",
    "write as json": f"fetch(S + '/api/drafts', {{method: 'POST', credentials: 'include', headers: {JSON}, body: {DRAFT}}}).then(r => r.ok)",
    "write as text": f"fetch(S + '/api/drafts', {{method: 'POST', mode: 'no-cors', credentials: 'include', body: {DRAFT}}}).then(r => r.ok)",
    "write as json without cors": f"fetch(S + '/api/drafts', {{method: 'POST', mode: 'no-cors', credentials: 'include', headers: {JSON}, body: {DRAFT}}}).then(r => r.ok)",
    "a beacon": f"Promise.resolve(navigator.sendBeacon(S + '/api/drafts', new Blob([{DRAFT}], {{type: 'text/plain'}}))).then(() => false)",
    "delete": "fetch(S + '/api/demonstrations/ritual%201.json', {method: 'DELETE', credentials: 'include'}).then(r => r.ok)",
    "rename": f"fetch(S + '/api/demonstrations/ritual%201.json/rename', {{method: 'POST', credentials: 'include', headers: {JSON}, body: '{{\"title\": \"gone\"}}'}}).then(r => r.ok)",
    "start learning": f"fetch(S + '/api/jobs', {{method: 'POST', credentials: 'include', headers: {JSON}, body: '{{}}'}}).then(r => r.ok)",
    "a form": "form('POST', '/api/drafts', 'text/plain')",
    "a form that looks like json": "form('POST', '/api/demonstrations/ritual%201.json/rename', 'text/plain')",
    "a form that gets": "form('GET', '/api/export/demonstrations.jsonl', 'text/plain')",
    "a script": "load('script', 'src', '/api/project')",
    "a module": "load('script', 'src', '/main.js', {type: 'module', crossOrigin: 'use-credentials'})",
    "a style sheet": "load('link', 'href', '/style.css', {rel: 'stylesheet'})",
    "a picture": "load('img', 'src', '/icon.svg')",
    "a frame": "framed()",
    "an event source": "new Promise(done => { const e = new EventSource(S + '/api/project', {withCredentials: true}); e.onopen = () => done(true); e.onerror = () => done(false); })",
    "a socket": "new Promise(done => { const w = new WebSocket(S.replace('http', 'ws') + '/api/project'); w.onopen = () => done(true); w.onerror = () => done(false); })",
    "guess the token": f"fetch(S + '/?token=guess', {{credentials: 'include'}}).then{READ}",
    "a window": "new Promise(done => { const w = window.open(S + '/'); setTimeout(() => { let seen = false; try { seen = !!w.document.querySelector('.problem'); } catch { seen = false; } w?.close(); done(seen); }, 700); })",
}  # fmt: skip
HELPERS = """
const form = (method, path, enctype) => new Promise(done => {
  const frame = document.createElement('iframe'); frame.name = 'f' + Math.random(); document.body.append(frame);
  const one = document.createElement('form'); one.method = method; one.action = S + path; one.enctype = enctype; one.target = frame.name;
  const field = document.createElement('input'); field.name = '{"problem": "world:ritual", "title": "gone", "x": "'; field.value = '"}'; one.append(field);
  document.body.append(one); one.submit(); setTimeout(() => done(false), 400); });
const load = (tag, attribute, path, more = {}) => new Promise(done => {
  const one = document.createElement(tag); Object.assign(one, more); one.onload = () => done(true); one.onerror = () => done(false);
  one[attribute] = S + path; document.head.append(one); setTimeout(() => done(false), 1500); });
const framed = () => new Promise(done => {
  const frame = document.createElement('iframe'); frame.src = S + '/'; document.body.append(frame);
  setTimeout(() => { let seen = false; try { seen = frame.contentDocument.body.textContent.includes('Record'); } catch { seen = false; } done(seen); }, 500); });
"""


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title><body>elsewhere</body>")

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another server on this machine: the same site for cookies, another origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


def contents(studio: Any) -> dict[str, bytes]:
    kinds = ("demonstrations", "drafts", "problems", "tasks", "plans", "reports")
    return {str(p): p.read_bytes() for kind in kinds for p in sorted((studio.folder / kind).iterdir())}


def got_through(page: Any, studio: Any, names: tuple[str, ...]) -> list[str]:
    """Which attempts succeed from this page."""
    chosen = ",".join(f'"{name}": () => {ATTEMPTS[name]}' for name in names)
    found: list[str] = page.evaluate(
        f"""async () => {{ const S = '{studio.address}'; {HELPERS}
        const results = await Promise.all(Object.entries({{ {chosen} }}).map(async ([name, attempt]) => {{
          try {{ return [name, await attempt() === true]; }} catch {{ return [name, false]; }} }}));
        return results.filter(([, ok]) => ok).map(([name]) => name); }}"""
    )
    return found


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_origin_can_do_none_of_it(browser: Any, studio: Any, elsewhere: int, host: str) -> None:
    assert len(ATTEMPTS) >= 20
    context = browser.new_context()
    own = context.new_page()
    own.goto(studio.link)
    own.locator(".problem").first.wait_for()
    assert own.evaluate("fetch('/api/project').then(r => r.status)") == 200, "this browser has the cookie"
    reads = ("read the project", "read the page", "export everything", "a module", "a picture")
    assert got_through(own, studio, reads) == list(reads), "the studio's own page can, so the attempts are real"
    before = contents(studio)
    page = context.new_page()
    page.goto(f"http://{host}:{elsewhere}/")
    through = got_through(page, studio, tuple(ATTEMPTS))
    print(f"{len(ATTEMPTS)} attempts from {host}:{elsewhere}, {len(through)} succeeded")
    assert through == []
    assert contents(studio) == before
    assert own.evaluate("fetch('/api/drafts').then(r => r.json())") == []
    context.close()
