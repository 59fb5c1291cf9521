"""What a world draws is shown without anything in it that could run or load."""
# ruff: noqa: E501  (markup)

from __future__ import annotations

from typing import Any

HOSTILE = [
    '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit = 1"><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><script>window.hit = 1</script><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><image href="http://evil.example/a.png"/><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><use href="http://evil.example/a.svg#a"/><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><a href="javascript:window.hit=1"><circle r="3"/></a><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><iframe src="http://evil.example"/></foreignObject><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><circle r="3" fill="url(http://evil.example/#a)"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><style>* { fill: url(http://evil.example) }</style><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><circle r="3" style="background: url(http://evil.example)"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><animate attributeName="href" to="javascript:1"/><circle r="3"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><circle r="3"',
]  # fmt: skip
TABLES = [
    "<table><tr><td>fine</td></tr></table><img src=x onerror='window.hit = 1'>",
    "<p onclick='window.hit = 1'>fine</p><iframe src='http://evil.example'></iframe>",
    "<form action='http://evil.example'><button>go</button></form><p>fine</p><meta http-equiv=refresh content='0;url=http://evil.example'>",
]
SHOW = """async ([markup, kind]) => {
  const { drawn } = await import('/dom.js');
  const shown = drawn(markup, kind);
  document.body.append(shown);
  await new Promise((done) => setTimeout(done, 30));
  return { html: shown.outerHTML, hit: window.hit ?? 0 };
}"""


def test_hostile_drawings_are_disarmed(browser: Any, studio: Any) -> None:
    page = browser.new_page()
    foreign: list[str] = []
    page.on("request", lambda request: request.url.startswith(studio.address) or foreign.append(request.url))
    page.goto(studio.link)
    page.locator(".problem").first.wait_for()
    for markup, kind in [*((one, "svg") for one in HOSTILE), *((one, "html") for one in TABLES)]:
        found = page.evaluate(SHOW, [markup, kind])
        assert found["hit"] == 0
        html = found["html"].replace("http://www.w3.org", "")
        for word in (
            "evil",
            "script",
            "onload",
            "onclick",
            "onerror",
            "foreignObject",
            "iframe",
            "style",
            "<a",
            "<form",
        ):
            assert word not in html, markup
        assert "circle" in html or "fine" in html or "cannot be shown" in html
    assert foreign == []
    page.close()


def test_numbers_are_rounded_and_keep_their_zeros(page: Any) -> None:
    page.locator(".problem").first.wait_for()
    shown = page.evaluate(
        "async () => { const { number } = await import('/dom.js'); return [10.48, 99.7, 1.04, 0.0123, 3, 1234.5].map((v) => number(v, 2)); }"
    )
    assert shown == ["10", "100", "1", "0.012", "3", "1200"]


def test_colours_given_as_style_stay_and_the_policy_has_nothing_to_report(page: Any) -> None:
    page.locator(".problem").first.wait_for()
    markup = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="3" style="fill: #123456; stroke-width: 2"/></svg>'
    assert 'fill="#123456" stroke-width="2"' in page.evaluate(SHOW, [markup, "svg"])["html"]
