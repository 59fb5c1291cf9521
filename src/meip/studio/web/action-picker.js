// The actions that are legal now: grouped by name, searchable; or part by part where they are made of named parts.
//
//   actionPicker({view, search, pick})   an element; view = {actions, total, legal}; search(q) asks the server for more

import { h, plural, replace } from "./dom.js";

const SMALL = 12;  // up to so many a list is quicker than parts

const textOf = (action) => action.text;
const named = (actions) => actions.length > SMALL && actions[0].parts.length > 1
  && actions.every((one) => one.parts.length === actions[0].parts.length && one.parts.every(([name], k) => name && name === actions[0].parts[k][0]))
  && actions[0].parts[0][0] !== "action";

export function actionPicker({ view, search, pick, remembered = {} }) {
  const byParts = named(view.actions);
  const body = h("div", { class: "actions-body" });
  const count = h("span", { class: "small", id: "action-count" });
  const field = h("input", { type: "search", id: "action-search", placeholder: "Search", "aria-label": "Search the actions", "aria-keyshortcuts": "/", "aria-describedby": "action-count", autocomplete: "off", spellcheck: "false" });
  let mode = byParts && remembered.mode !== "list" ? "parts" : "list";
  const toggle = byParts ? h("div", { class: "segments", role: "group", "aria-label": "How to choose" },
    ["parts", "list"].map((one) => h("button", { type: "button", dataset: { mode: one }, "aria-pressed": String(one === mode), onclick: () => choose(one) }, one === "parts" ? "By parts" : "List"))) : null;

  function choose(next) {
    mode = remembered.mode = next;
    toggle.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.mode === next)));
    show();
  }

  function told(shown, total) {
    count.textContent = shown === total ? plural(total, "action") : `${shown} of ${plural(total, "action")}`;
  }

  async function show() {
    const words = field.value.trim();
    if (mode === "parts" && !words) {
      told(view.actions.length, view.legal);
      replace(body, partsOf(view.actions, pick, remembered));
      return;
    }
    const matching = (one) => words.toLowerCase().split(/\s+/).every((word) => textOf(one).toLowerCase().includes(word));
    let found = { actions: view.actions.filter(matching), total: 0 };
    found.total = found.actions.length;
    if (view.actions.length < view.legal) found = await search(words);
    if (words !== field.value.trim()) return;
    told(found.actions.length, found.total);
    replace(body, found.actions.length ? groups(found.actions, pick) : h("p", { class: "soft" }, "No action has these words."));
  }

  field.addEventListener("input", () => { show().catch(() => {}); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); body.querySelector("button")?.focus(); }
    if (event.key === "Enter") { event.preventDefault(); if (mode === "list" || field.value) body.querySelector("button.action")?.click(); }
    if (event.key === "Escape" && field.value) { field.value = ""; show(); }
  });
  body.addEventListener("keydown", (event) => {
    if (!event.target.matches?.("button.action")) return;
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...body.querySelectorAll("button.action")];
    const next = Math.max(0, Math.min(all.length - 1, all.indexOf(event.target) + step));
    if (step === -1 && event.target === all[0]) field.focus(); else all[next].focus();
  });
  show();
  return h("section", { class: "actions stack", "aria-labelledby": "actions-title" },
    h("div", { class: "spread" }, h("h2", { id: "actions-title" }, "What next?"), count),
    h("div", { class: "row search-row" }, field, toggle), body);
}

function groups(actions, pick) {
  const found = new Map();
  for (const one of actions) {
    const [name, value] = one.parts[0];
    const key = name && name !== "action" ? `${name} ${value}` : value;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(one);
  }
  const only = found.size === 1 || actions.length <= found.size;
  return [...found].map(([key, members]) => h("div", { class: "action-group", role: "group", "aria-label": key },
    only ? null : h("h3", {}, key, " ", h("span", { class: "small" }, members.length)),
    h("ul", { class: "action-list" }, members.map((one) => h("li", {}, h("button", { type: "button", class: "action", onclick: () => pick(one) }, textOf(one)))))));
}

/** Pick a stage, a type, a number: each part narrows the next. */
function partsOf(actions, pick, remembered) {
  const names = actions[0].parts.map(([name]) => name);
  const chosen = names.map(() => null);
  const root = h("div", { class: "stack parts" });
  const wanted = remembered.parts ?? [];

  function settle(from) {
    for (let k = from; k < names.length; k += 1) {
      const open = values(k);
      if (!open.includes(chosen[k])) chosen[k] = open.includes(wanted[k]) ? wanted[k] : richest(k, open);
    }
  }
  function richest(k, open) {  // the first of those that leave most to choose from
    const counts = open.map((value) => actions.filter((one) => one.parts[k][1] === value && one.parts.slice(0, k).every(([, v], i) => v === chosen[i])).length);
    return open[counts.indexOf(Math.max(...counts))];
  }
  function values(k) {
    const seen = actions.filter((one) => one.parts.slice(0, k).every(([, value], i) => value === chosen[i])).map((one) => one.parts[k][1]);
    return [...new Set(seen)];
  }
  function current() {
    return actions.find((one) => one.parts.every(([, value], k) => value === chosen[k]));
  }
  function draw(focus = null) {
    replace(root, names.map((name, k) => h("fieldset", { class: "part" }, h("legend", {}, name),
      h("div", { class: "choices" }, values(k).map((value) => h("label", { class: "choice" },
        h("input", { type: "radio", name: `part-${k}`, value, checked: chosen[k] === value, onchange: () => { chosen[k] = value; remembered.parts = [...chosen]; settle(k + 1); draw([k, value]); } }),
        h("span", {}, value)))))),
      h("button", { type: "button", class: "primary do", "aria-keyshortcuts": "Enter", onclick: () => { remembered.parts = [...chosen]; pick(current()); } }, current() ? textOf(current()) : "", h("kbd", { "aria-hidden": "true" }, "Enter")));
    if (focus) root.querySelector(`input[name="part-${focus[0]}"]:checked`)?.focus();
  }
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) { event.preventDefault(); pick(current()); }
  });
  settle(0);
  draw();
  return root;
}
