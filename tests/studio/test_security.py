"""The studio answers one person, at its own address, and gives nothing to anybody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meip.studio.app import create_app
from meip.studio.security import MOST_BYTES, Access
from meip.studio.server import LOOPBACK, _listening
from opened_studio import Opened, TestClient

PORT = 8123
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return Opened.at(tmp_path_factory.mktemp("security") / "project")


@pytest.fixture
def opened(shared: Opened) -> Iterator[Opened]:
    headers = dict(shared.client.headers)
    yield shared
    shared.client.headers.update(headers)


def anew(opened: Opened) -> TestClient:
    """A client without the cookie."""
    return TestClient(create_app(opened.studio, Access(PORT)), base_url=HERE)


def test_without_the_token_nothing_is_shown(opened: Opened) -> None:
    client = anew(opened)
    for path in ("/", "/main.js", "/api/project", "/api/drafts", "/?token=", "/?token=wrong"):
        answer = client.get(path)
        assert answer.status_code == 401 and "demonstrations" not in answer.text and "set-cookie" not in answer.headers


def test_the_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_use(opened: Opened) -> None:
    access = Access(PORT)
    client = TestClient(create_app(opened.studio, access), base_url=HERE, follow_redirects=False)
    answer = client.get("/", params={"token": access.token})
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and str(PORT) in cookie
    assert access.token not in cookie, "the link is not the cookie"
    assert client.get("/").status_code == 200


def test_every_run_has_a_token_and_a_session_of_its_own() -> None:
    runs = [Access(PORT) for _ in range(20)]
    assert len({run.token for run in runs} | {run.session for run in runs}) == 40
    assert all(len(run.token) >= 32 and len(run.session) >= 40 for run in runs)


def test_the_cookie_of_another_run_opens_nothing(opened: Opened) -> None:
    cookies = dict(opened.client.cookies)
    assert cookies
    restarted = TestClient(create_app(opened.studio, Access(PORT)), base_url=HERE, cookies=cookies)
    assert restarted.get("/api/project").status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost", f"127.0.0.1:{PORT + 1}", f"0.0.0.0:{PORT}", ""],
)
def test_any_other_host_is_refused(opened: Opened, host: str) -> None:
    assert opened.client.get("/api/project", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", f"https://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT + 1}",
     f"http://localhost:{PORT}", "http://127.0.0.1", f"{HERE}.evil.example"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_any_other_origin_is_refused(opened: Opened, origin: str, method: str) -> None:
    answer = opened.client.request(method, "/api/drafts", headers={"origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_change_without_an_origin_is_refused(opened: Opened) -> None:
    del opened.client.headers["origin"]
    assert opened.client.get("/api/project").status_code == 200
    assert opened.client.post("/api/drafts", json={"problem": "world:ritual"}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_fetches_for_another_page_is_refused(opened: Opened, site: str) -> None:
    for path in ("/api/project", "/main.js"):
        assert opened.client.get(path, headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_changes_are_asked_for_in_json_only(opened: Opened, kind: str) -> None:
    answer = opened.client.post("/api/drafts", content=b'{"problem": "world:ritual"}', headers={"content-type": kind})
    assert answer.status_code == 415 and opened.get("/api/drafts") == []


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH", "CONNECT", "PROPFIND"])
def test_no_other_methods(opened: Opened, method: str) -> None:
    assert opened.client.request(method, "/api/project").status_code == 405


def test_a_body_that_is_too_large_is_not_read(opened: Opened) -> None:
    large = b'{"files": [{"name": "a.json", "text": "' + b"x" * MOST_BYTES + b'"}]}'
    sent: list[dict[str, Any]] = [
        {"content": large},
        {"content": (large[i : i + 65536] for i in range(0, len(large), 65536))},  # without saying how large it is
    ]
    for body in sent:
        answer = opened.client.post("/api/import", headers={"content-type": "application/json"}, **body)
        assert answer.status_code == 413


def test_every_answer_forbids_the_page_to_load_or_run_anything_else(opened: Opened) -> None:
    for client, path in (
        (opened.client, "/"),
        (opened.client, "/api/project"),
        (anew(opened), "/"),
        (opened.client, "/none"),
    ):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"] and "http" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer" and headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    ["/../project.py", "/%2e%2e/project.py", "/..%2fproject.py", "//etc/passwd", "/web/../../cli/app.py",
     "/api/drafts/..%2f..%2fetc%2fpasswd", "/api/drafts/%2fetc%2fpasswd", "/api/demonstrations/..%2flock/replay",
     "/api/demonstrations/%2e%2e/replay", "/api/export/demonstrations.jsonl?name=../../secret.json",
     "/api/demonstrations/.hidden.json/replay", "/api/problems/preview?id=file:../../../etc/passwd",
     "/api/problems/preview?id=own:os:system", "/api/problems/preview?id=/etc/passwd"],
)  # fmt: skip
def test_no_path_leads_out_of_the_project(opened: Opened, path: str) -> None:
    (opened.studio.project.path.parent / "secret.json").write_text("not for you")
    answer = opened.client.get(path)
    assert answer.status_code in (400, 404) and "root:" not in answer.text and "not for you" not in answer.text


@pytest.mark.parametrize(
    "name", ["../a", "a/b", "a\\b", ".a", "", " ", "a\0b", "a\nb", "x" * 200, "..", "con/../x", "/etc/a"]
)
def test_no_name_leads_out_of_the_project(opened: Opened, name: str) -> None:
    assert "cannot be a name" in opened.refused("/api/demonstrations/ritual 1.json/rename", title=name)
    assert opened.refused("/api/import", files=[{"name": f"{name}.json", "text": "{}"}])


def test_a_link_that_leads_out_of_the_project_is_not_followed(opened: Opened, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text((opened.studio.project.path / "demonstrations" / "ritual 1.json").read_text())
    (opened.studio.project.path / "demonstrations" / "linked.json").symlink_to(outside)
    answer = opened.client.get("/api/demonstrations/linked.json/replay")
    assert answer.status_code == 400 and "leads out of the project's folder" in answer.json()["error"]


def test_a_file_that_names_code_does_not_have_it_run(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trap.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('sprung').touch()\nTrap = 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    text = '{"format": "meip.problem/1", "world": "trap:Trap"}'
    assert "Files never import code" in opened.refused("/api/import", files=[{"name": "trap.json", "text": text}])
    assert opened.refused("/api/drafts", problem="own:trap:Trap")
    assert not (tmp_path / "sprung").exists()


def test_a_text_in_place_of_a_document_is_not_taken_for_a_path(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "problem.json").write_text('{"format": "meip.problem/1", "world": "ritual"}')
    text = f'"{tmp_path / "problem.json"}"'
    assert "expected a JSON object" in opened.refused("/api/import", files=[{"name": "a.json", "text": text}])


def test_it_listens_on_the_loopback_address_only() -> None:
    with _listening(0) as listener:
        assert listener.getsockname()[0] == LOOPBACK == "127.0.0.1"
        assert listener.family == socket.AF_INET


def test_errors_inside_come_without_a_traceback(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("oh")

    monkeypatch.setattr(type(opened.studio.worlds), "summary", broken)
    client = TestClient(
        opened.client.app, base_url=HERE, cookies=dict(opened.client.cookies), raise_server_exceptions=False
    )
    answer = client.get("/api/project")
    assert answer.status_code == 500 and answer.json() == {"error": "error inside meip: RuntimeError: oh"}


def test_the_server_asks_nobody_for_anything(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("somebody was asked")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refused)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refused)
    for path in ("/", "/main.js", "/api/project", "/api/demonstrations", "/api/demonstrations/ritual 1.json/replay"):
        assert opened.client.get(path).status_code == 200
    draft = opened.post("/api/drafts", problem="file:t-shirt.json")
    assert opened.post(f"/api/drafts/{draft['name']}/stroke", line=[-15, -10, -15, 90])["legal"]
