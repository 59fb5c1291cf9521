// Recording: the state, what can be done next, and what was done. Every step is saved before it is shown.

import { actionPicker } from "./action-picker.js";
import { button, h, plural, replace, store, stored } from "./dom.js";
import { linePanel } from "./line-panel.js";
import { factsTable, stateView } from "./state-view.js";

const remembered = {};  // how somebody likes to choose, from step to step

export async function editor(stage, app, name, list) {
  const path = `/api/drafts/${encodeURIComponent(name)}`;
  let view = await app.api(path);
  let busy = false;
  let lines = null;
  let gone = false;  // it is a demonstration now, or deleted

  const title = h("h2", { class: "big" });
  const saved = h("span", { class: "chip saved" });
  const undo = button("Undo", () => change("undo"), { key: "Control+Z" });
  const redo = button("Redo", () => change("redo"), { key: "Control+Shift+Z" });
  const keep = button("Finish …", () => finish(), { kind: "primary", key: "Control+S", title: "Put it among the demonstrations" });
  const picture = h("section", { class: "card picture", "aria-label": "The state now" });
  const choices = h("div", { class: "choices-panel" });
  const steps = h("ol", { class: "steps" });
  replace(stage,
    h("div", { class: "page-head" }, h("div", { class: "row" }, title, saved), h("div", { class: "row" }, undo, redo, keep)),
    h("div", { class: "record-grid" }, picture,
      h("div", { class: "stack" }, h("div", { class: "card" }, choices),
        h("section", { class: "card", "aria-labelledby": "steps-title" }, h("h2", { id: "steps-title" }, "Done so far"), steps))));

  async function send(verb, body) {
    if (busy) return null;
    busy = true;
    stage.setAttribute("aria-busy", "true");
    try {
      return await app.api(`${path}/${verb}`, { method: "POST", body: { ...body, at: view.steps.length } });
    } catch (error) {
      app.fail(error);
      await look();
      return null;
    } finally {
      busy = false;
      stage.removeAttribute("aria-busy");
    }
  }

  // What was refused may have been done to a state that is gone: another window has this draft, too.
  async function look() {
    try {
      const now = await app.api(path);
      if (now.saved !== view.saved) { view = now; draw(); }
    } catch { /* the error before this one says enough */ }
  }

  async function change(verb) {
    const next = await send(verb);
    if (!next) return;
    view = next;
    draw();
    app.status(`${verb === "undo" ? "Undone" : "Done again"}. ${plural(view.steps.length, "step")}.`);
  }

  async function take(action, more = {}) {
    const here = document.activeElement;
    const focused = here?.closest(".choices-panel") ? focusKey() : here?.closest(".line-canvas") ? ".line-canvas" : null;
    const next = await send("step", { action, ...more });
    if (!next) return false;
    if (next.choose) { chance(action, next.choose); return false; }
    view = next;
    draw();
    if (focused) restoreFocus(focused);
    app.status(`Step ${view.steps.length}: ${view.steps.at(-1).text}. Saved.`);
    return true;
  }

  // After a step the panel is made anew; whoever works by keyboard stays where they were.
  function focusKey() {
    const here = document.activeElement;
    return here.matches("input[type=radio]") ? `input[name="${here.name}"]:checked` : here.matches("input[type=search]") ? "#action-search" : here.matches("input[type=number]") ? "input[type=number]" : here.matches(".do") ? ".do" : "button.action";
  }
  function restoreFocus(selector) {
    (stage.querySelector(selector) ?? choices.querySelector("input, button:not(:disabled)") ?? keep).focus({ preventScroll: true });
  }

  function chance(action, outcomes) {
    const luck = h("input", { type: "checkbox" });
    const dialog = h("dialog", { "aria-labelledby": "chance-title" },
      h("h2", { id: "chance-title" }, "What came of it?"),
      h("ul", { class: "stack" }, outcomes.map((one) => h("li", {}, h("button", { type: "button", class: "outcome", onclick: () => { dialog.close(); take(action, { outcome: one.outcome, failure: luck.checked }); } },
        h("span", {}, one.words), h("span", { class: "number small" }, `${(100 * one.probability).toFixed(0)} %`))))),
      h("p", { class: "row below" }, h("label", {}, luck, "It was bad luck: learn from the choice, not from where it led")),
      h("form", { method: "dialog" }, h("button", {}, "Cancel")));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector(".outcome")?.focus();
  }

  function draw() {
    title.textContent = view.title;
    replace(saved, h("span", { "aria-hidden": "true" }, "✓"), `Saved ${new Date(view.saved * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}`);
    undo.disabled = !view.steps.length;
    redo.disabled = !view.redo;
    keep.disabled = !view.steps.length;
    replace(steps, view.steps.map((one, k) => h("li", { class: k === view.steps.length - 1 ? "latest" : null }, one.text)),
      view.redo ? h("li", { class: "undone" }, `${plural(view.redo, "step")} undone`) : null,
      view.steps.length ? null : h("li", { class: "undone" }, "Nothing yet."));
    steps.scrollTop = steps.scrollHeight;
    lines = null;
    if (view.state.scene && !view.over) {
      lines = linePanel({ state: view.state, ask: (body) => app.api(`${path}/stroke`, { method: "POST", body }), app, fold: (stroke) => take(stroke.action) });
      replace(picture, lines.picture);
      replace(choices, lines.panel);
    } else {
      replace(picture, stateView(view.state), view.state.facts || view.state.scene ? null : moreFacts());
      replace(choices, view.over ? ended() : actionPicker({ view, remembered, pick: (one) => take(one.value), search: (q) => app.api(`${path}/actions?q=${encodeURIComponent(q)}`) }));
    }
    app.shortcuts([...own, ...(lines?.shortcuts ?? [])]);
    list.refresh().catch(app.fail);
  }

  function moreFacts() {
    const body = h("div", {});
    return h("details", { class: "more-facts", ontoggle: async (event) => {
      if (event.target.open && !body.childElementCount) {
        try { replace(body, factsTable(await app.api(`${path}/facts`))); } catch (error) { app.fail(error); }
      }
    } }, h("summary", {}, "Facts"), body);
  }

  function ended() {
    const why = view.goal ? "The goal is reached." : view.steps.length + 1 >= view.horizon ? "This is as long as an episode may be." : "There is nothing more to do here.";
    return h("section", { class: "stack ended" }, h("h2", {}, "It is over"), h("p", { class: "soft" }, why),
      h("div", { class: "row" }, button("Finish …", () => finish(), { kind: "primary" })));
  }

  function finish() {
    if (!view.steps.length || document.querySelector("dialog[open]")) return;
    const field = (label, value, attrs = {}) => { const input = h("input", { value, maxlength: "100", ...attrs }); return [h("label", { class: "field" }, label, input), input]; };
    const [titleField, titleInput] = field("Name", view.title, { required: true });
    const [byField, byInput] = field("Shown by (optional)", stored("meip-by"));
    const [noteField, noteInput] = field("Note (optional)", "", { maxlength: "500" });
    const problem = h("p", { class: "notice error", hidden: true, role: "alert" });
    const form = h("form", { class: "finish" }, h("div", { class: "stack" }, titleField, byField, noteField, problem),
      h("div", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), h("button", { class: "primary" }, "Save")));
    const dialog = h("dialog", { "aria-labelledby": "finish-title" }, h("h2", { id: "finish-title" }, `A demonstration of ${plural(view.steps.length, "step")}`), form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const { file } = await app.api(`${path}/save`, { method: "POST", body: { title: titleInput.value.trim(), by: byInput.value.trim(), note: noteInput.value.trim() } });
        store("meip-by", byInput.value.trim());
        gone = true;
        dialog.close();
        await app.refresh();
        app.go(`record/demo/${encodeURIComponent(file)}/0/${view.steps.length}`);
        app.status(`Saved as “${file.replace(/\.json$/, "")}”.`, "good");
      } catch (error) {
        problem.hidden = false;
        problem.textContent = error.message;
      }
    });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    titleInput.select();
  }

  const own = [
    { keys: "Control+Z", label: "Undo a step", run: () => { if (view.steps.length) change("undo"); } },
    { keys: ["Control+Shift+Z", "Control+Y"], label: "Redo a step", run: () => { if (view.redo) change("redo"); } },
    { keys: "Control+S", label: "Finish this demonstration", inFields: true, run: () => finish() },
    { keys: "/", label: "Search the actions", when: () => Boolean(choices.querySelector("#action-search")), run: () => choices.querySelector("#action-search").focus() },
  ];
  draw();
  return () => {  // nothing was done: nothing is kept
    if (!view.steps.length && !view.redo && !gone) app.api(path, { method: "DELETE" }).catch(() => {});
  };
}
