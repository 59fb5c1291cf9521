"""Everybody can use it: names, roles, contrast, focus and width, on every tab, light and dark."""
# ruff: noqa: E501  (JavaScript)

from __future__ import annotations

from typing import Any

import pytest

TABS = ("record", "learn", "understand", "plan", "report")
AUDIT = """() => {
  const wrong = [];
  const visible = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !e.closest('.visually-hidden, [inert]');
  const name = (e) => (e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') ?? '').split(/\\s+/).map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim()
    || [...(e.labels ?? [])].map((l) => l.textContent).join(' ').trim() || (e.matches('input, select, textarea') ? '' : e.textContent.trim()) || e.getAttribute('title') || e.querySelector?.('title')?.textContent || '').trim();
  const what = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + '.' + [...e.classList].join('.') + ' "' + e.textContent.trim().slice(0, 30) + '"';
  for (const e of document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button], [role=slider], [role=tab], [role=img], [role=application], dialog, [role=group], fieldset')) {
    if (!visible(e) && !e.matches('.visually-hidden')) continue;
    if (e.type === 'hidden' || e.closest('[aria-hidden=true]')) continue;
    if (e.matches('fieldset') ? !e.querySelector('legend')?.textContent.trim() && !name(e) : !name(e)) wrong.push('no name: ' + what(e));
  }
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) wrong.push('id twice: ' + id);
  for (const e of document.querySelectorAll('[style]')) wrong.push('style attribute: ' + what(e));
  if (document.querySelectorAll('h1').length !== 1) wrong.push(document.querySelectorAll('h1').length + ' headings of level 1');
  if (document.querySelectorAll('main').length !== 1 || !document.documentElement.lang) wrong.push('no main, or no language');
  if (document.querySelectorAll('[role=tab][aria-selected=true]').length !== 1) wrong.push('not one tab is selected');
  // contrast
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); if (c.startsWith('color(srgb')) return [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1]; return [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (f, b) => [0, 1, 2].map((k) => f[k] * f[3] + b[k] * (1 - f[3])).concat(1);
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const background = (e) => { const stack = []; for (let at = e; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor); if (c[3] > 0) { stack.push(c); if (c[3] === 1) break; } } return stack.reverse().reduce((b, f) => over(f, b), [255, 255, 255, 1]); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !visible(e) || e.closest(':disabled, svg, .status:not(.shown), option, .picture svg')) continue;
    const style = getComputedStyle(e);
    let alpha = 1;
    for (let at = e; at; at = at.parentElement) alpha *= Number(getComputedStyle(at).opacity);
    const behind = background(e);
    const ink = parse(style.color);
    const text = over([ink[0], ink[1], ink[2], ink[3] * alpha], behind);
    const [a, b] = [light(text), light(behind)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) wrong.push('contrast ' + ratio.toFixed(2) + ': ' + what(e));
  }
  for (const e of document.querySelectorAll('select, textarea, input:not([type=checkbox], [type=radio], [type=range], .visually-hidden)')) {
    if (!visible(e) || e.disabled) continue;
    const [a, b] = [light(parse(getComputedStyle(e).borderTopColor)), light(background(e.parentElement))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 3) wrong.push('edge ' + ((a + 0.05) / (b + 0.05)).toFixed(2) + ': ' + what(e));
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('wider than the window by ' + (document.documentElement.scrollWidth - innerWidth));
  return [...new Set(wrong)];
}"""


def settled(page: Any) -> None:
    page.wait_for_function("() => document.querySelector('#panel') && !document.querySelector('main[aria-busy]')")
    page.wait_for_load_state("networkidle")


@pytest.fixture(params=["light", "dark"])
def themed(browser: Any, studio: Any, request: pytest.FixtureRequest) -> Any:
    context = browser.new_context(
        viewport={"width": 1280, "height": 860}, color_scheme=request.param, reduced_motion="reduce"
    )
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.goto(studio.link)
    yield page
    context.close()


def test_every_tab_has_names_roles_contrast_and_no_overflow(themed: Any) -> None:
    for tab in TABS:
        themed.evaluate("hash => { location.hash = hash; }", tab)
        themed.wait_for_selector(f"main[data-tab={tab}]")
        settled(themed)
        assert themed.evaluate(AUDIT) == [], tab
        themed.set_viewport_size({"width": 800, "height": 900})
        assert themed.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"{tab} at 800 pixels"
        themed.set_viewport_size({"width": 1280, "height": 860})


@pytest.mark.parametrize("problem", ["t-shirt", "ritual, any order", "ferry", "Garden"])
def test_recording_has_names_roles_contrast_and_no_overflow(page: Any, problem: str) -> None:
    page.get_by_role("button", name=f"Record in {problem}", exact=True).click()
    page.get_by_role("heading", name="Done so far").wait_for()
    settled(page)
    if problem == "t-shirt":
        page.keyboard.press("l")
        page.locator("#verdict").filter(has_text="moves").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(AUDIT) == [], scheme
        page.set_viewport_size({"width": 800, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.set_viewport_size({"width": 1280, "height": 860})


def test_the_frame_is_used_by_keyboard(page: Any) -> None:
    page.locator(".problem").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip", "the first stop is the way past the tabs"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    assert "Go to a tab" in sheet.inner_text() and "Import files" in sheet.inner_text()
    assert "Bring back" not in sheet.inner_text(), "only what works now"
    sheet.get_by_label("Single keys are shortcuts").uncheck()
    page.keyboard.press("Escape")
    sheet.wait_for(state="detached")
    page.keyboard.press("2")
    page.keyboard.press("?")
    assert page.locator("main[data-tab=record]").count() == 1 and sheet.count() == 0, "single keys can be turned off"
    page.get_by_role("button", name="Keyboard shortcuts").click()
    sheet.get_by_label("Single keys are shortcuts").check()
    page.keyboard.press("Escape")
    sheet.wait_for(state="detached")
    page.get_by_role("tab", name="Record").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("main[data-tab=learn]")
    assert page.get_by_role("tab", name="Learn").get_attribute("aria-selected") == "true"
    page.keyboard.press("1")
    page.wait_for_selector("main[data-tab=record]")


def test_focus_is_visible(page: Any) -> None:
    page.locator(".problem").first.wait_for()
    for _ in range(12):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            "(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; })()"
        )
        assert seen, page.evaluate("document.activeElement.outerHTML")


def test_light_and_dark_can_be_chosen_and_stay_chosen(page: Any) -> None:
    page.locator(".problem").first.wait_for()
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(paper)
    page.get_by_role("button", name="Light or dark").click()
    after = page.evaluate(paper)
    assert before != after
    page.reload()
    page.locator(".problem").first.wait_for()
    assert page.evaluate(paper) == after


def test_what_happens_is_said_to_screen_readers(page: Any) -> None:
    page.locator(".problem").first.wait_for()
    there = "['status', 'waiting'].map((id) => getComputedStyle(document.getElementById(id)).display !== 'none')"
    assert page.evaluate(there) == [True, True], "readers watch them before anything is said"
    page.get_by_role("button", name="Record in Garden", exact=True).click()
    page.get_by_role("button", name="plant 0", exact=True).click()
    live = page.locator("#status[aria-live=polite]")
    live.filter(has_text="Step 1: plant 0. Saved.").wait_for()
