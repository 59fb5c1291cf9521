// The frame: five tabs by the address's hash, shortcuts, the sheet of shortcuts, the status line.

import { api, ApiError } from "./api.js";
import { h, keyText, replace, store, stored } from "./dom.js";

const TABS = ["record", "learn", "understand", "plan", "report"];
const main = document.getElementById("main");
const status = document.getElementById("status");
let current = { tab: "", unmount: null, shortcuts: [] };
let turn = 0;
let quiet = 0;
let slow = 0;  // questions that take longer than people like to wait without a word

export const app = {
  api: async (path, options) => {
    let late = false;
    const timer = setTimeout(() => { late = true; waiting(1); }, 1000);
    try {
      return await api(path, options);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) locked();
      throw error;
    } finally {
      clearTimeout(timer);
      if (late) waiting(-1);
    }
  },
  ApiError,
  project: null,
  /** Read the project again. */
  refresh: async () => {
    app.project = await app.api("/api/project");
    document.getElementById("project").textContent = app.project.name;
    document.getElementById("project").title = app.project.path;
    return app.project;
  },
  /** A line for everybody, screen readers included. kind: "", "good", "error" */
  status: (text, kind = "", action = null) => {
    clearTimeout(quiet);
    status.className = text ? `status shown ${kind}` : "status";
    replace(status, text ? h("span", {}, text) : null, action ? h("button", { type: "button", class: "quiet", onclick: () => { app.status(""); action.run(); } }, action.label) : null);
    if (text && kind !== "error") quiet = setTimeout(() => app.status(""), action ? 12000 : 5000);
  },
  go: (hash) => { location.hash = hash; },
  /** Show the tab anew, as after a change that it does not know of. */
  reload: () => show(),
  /** Shortcuts of the tab, or of a dialog: [{keys: "Control+Z", label: "Undo", run, when?}]; shown in the sheet. */
  shortcuts: (list, dialog = current) => { dialog.shortcuts = list; },
  /** Show an error that somebody caused as its one line. */
  fail: (error) => {
    if (error?.name === "AbortError") return;
    app.status(error?.message ?? String(error), "error");
    if (!(error instanceof ApiError)) console.error(error);
  },
};

function waiting(by) {
  slow += by;
  const line = document.getElementById("waiting");
  line.classList.toggle("shown", slow > 0);
  line.textContent = slow > 0 ? "Working …" : "";
}

function locked() {
  replace(main, h("section", { class: "empty" }, h("h1", {}, "This studio was started anew"),
    h("p", {}, "Open the link that ", h("code", {}, "meip studio"), " printed. Nothing was lost: everything is in the project's folder.")));
}

async function show() {
  const [tab, ...rest] = location.hash.replace(/^#/, "").split("/");
  const name = TABS.includes(tab) ? tab : "record";
  const mine = ++turn;
  try { await current.unmount?.(); } catch (error) { app.fail(error); }
  if (mine !== turn) return;
  current = { tab: name, unmount: null, shortcuts: [] };
  for (const one of TABS) {
    const link = document.getElementById(`tab-${one}`);
    link.setAttribute("aria-selected", String(one === name));
    link.tabIndex = one === name ? 0 : -1;
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · meip studio`;
  main.dataset.tab = name;
  main.setAttribute("aria-busy", "true");
  const root = h("div", { class: `page page-${name}`, id: "panel", role: "tabpanel", "aria-labelledby": `tab-${name}` });
  try {
    const module = await import(`./${name}.js`);
    if (!app.project) await app.refresh();
    if (mine !== turn) return;
    replace(main, root);
    const unmount = await module.mount(root, { ...app, get project() { return app.project; }, path: rest.map(decodeURIComponent) });
    if (mine === turn) current.unmount = typeof unmount === "function" ? unmount : null;
    else if (typeof unmount === "function") unmount();
  } catch (error) {
    if (mine === turn && !(error instanceof ApiError && error.status === 401)) {
      replace(main, h("section", { class: "empty" }, h("h1", {}, "This tab cannot be shown"), h("p", { class: "notice error" }, error.message)));
    }
  }
  if (mine === turn) main.removeAttribute("aria-busy");
}

// --- keys ---

let letters = stored("meip-letters") !== "off";  // single keys as shortcuts: who dictates or misses keys may not want them

const typing = (target) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !/^(checkbox|radio|range|button)$/.test(target.type));

function matches(event, keys) {
  const parts = keys.split("+");
  const key = parts.at(-1) || "+";
  const wants = (name) => parts.slice(0, -1).includes(name);
  const control = event.ctrlKey || event.metaKey;
  if (control !== wants("Control") || event.altKey !== wants("Alt")) return false;
  if (/^[a-z]$/i.test(key) || key.length > 1) { if (event.shiftKey !== wants("Shift")) return false; }
  return event.key.toLowerCase() === key.toLowerCase();
}

document.addEventListener("keydown", (event) => {
  const dialog = document.querySelector("dialog[open]");
  if (event.defaultPrevented) return;
  const inField = typing(event.target);
  if (/^( |Enter)$/.test(event.key) && !event.ctrlKey && event.target.closest?.("button, a, summary")) return;  // it presses that
  if (!letters && /^\S$/.test(event.key) && !event.ctrlKey && !event.metaKey) return;
  for (const one of (dialog ?? current).shortcuts ?? []) {
    if (inField && !one.inFields) continue;
    if ([one.keys].flat().some((keys) => matches(event, keys)) && (one.when?.() ?? true)) {
      event.preventDefault();
      one.run(event);
      return;
    }
  }
  if (dialog || inField || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[1-5]$/.test(event.key)) { event.preventDefault(); app.go(TABS[Number(event.key) - 1]); }
  else if (event.key === "?") { event.preventDefault(); sheet(); }
});

document.querySelector(".tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -9, End: 9 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = Math.max(0, Math.min(TABS.length - 1, TABS.indexOf(current.tab) + step));
  app.go(TABS[next]);
  document.getElementById(`tab-${TABS[next]}`).focus();
});

function sheet() {
  const row = (keys, label) => h("tr", {}, h("th", { scope: "row" }, [keys].flat().map((k, i) => [i ? " or " : "", h("kbd", {}, keyText(k))])), h("td", {}, label));
  const dialog = h("dialog", { class: "sheet", "aria-labelledby": "sheet-title" },
    h("h2", { id: "sheet-title" }, "Keyboard shortcuts"),
    h("table", {}, h("tbody", {},
      current.shortcuts.filter((s) => s.label && (s.when?.() ?? true)).map((s) => row(s.keys, s.label)),
      row("1 … 5", "Go to a tab"), row("?", "This sheet"), row("Escape", "Close a window, leave a field"))),
    h("form", { method: "dialog", class: "spread" },
      h("label", {}, h("input", { type: "checkbox", checked: letters, onchange: (event) => { letters = event.target.checked; store("meip-letters", letters ? "on" : "off"); } }), "Single keys are shortcuts"),
      h("button", { class: "primary" }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector(".primary").focus();
}

// --- light and dark ---

function turnTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  store("meip-theme", next);
  app.status(next === "dark" ? "Dark" : "Light");
}

document.getElementById("help").addEventListener("click", sheet);
document.getElementById("theme").addEventListener("click", turnTheme);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", show);
show();
