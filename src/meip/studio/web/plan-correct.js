// "This step is wrong": what would have been right there. The answer is a correction, which is learned from with the rest.

import { actionPicker } from "./action-picker.js";
import { h, replace } from "./dom.js";
import { linePanel } from "./line-panel.js";
import { stateView } from "./state-view.js";

export async function correctDialog(app, { task, problem, plan, step }, done) {
  const begun = plan.steps.slice(0, step - 1).map(({ action, outcome }) => ({ action, outcome }));
  const wrong = plan.steps[step - 1];
  const asked = { task, problem, initial: plan.initial, steps: begun };
  const body = h("div", { class: "stack" }, h("p", { class: "soft" }, "…"));
  const dialog = h("dialog", { class: "correct", "aria-labelledby": "correct-title" }, h("h2", { id: "correct-title" }, wrong ? `Step ${step} is wrong` : "It should not stop here"), body,
    h("form", { method: "dialog" }, h("button", {}, "Cancel")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const ask = (search) => app.api("/api/plans/actions", { method: "POST", body: { ...asked, search } });
  const stroke = (of) => app.api("/api/plans/stroke", { method: "POST", body: { ...asked, ...of } });
  const instead = () => [h("s", {}, wrong ? wrong.text : "to stop")];

  async function pick() {
    try {
      const found = await ask("");
      const lines = found.view.scene ? linePanel({ state: found.view, ask: stroke, app, fold: ({ action, text }) => chosen({ value: action, text }) }) : null;
      dialog.classList.toggle("drawing", Boolean(lines));
      app.shortcuts(lines?.shortcuts ?? [], dialog);
      replace(body, h("p", {}, "Not ", instead(), ", but:"),
        lines ? h("div", { class: "correct-lines" }, lines.picture, lines.panel) : h("div", { class: "correct-view" }, stateView(found.view)),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => kept({ then: "hand" }) }, "Show it by hand, on the tab Record"),
          wrong && plan.goal === null && begun.length ? h("button", { type: "button", onclick: () => chosen({ value: null, text: "stop before it" }) }, "Stop before it") : null),
        lines ? null : found.actions.length ? actionPicker({ view: found, search: ask, pick: chosen }) : h("p", { class: "soft" }, "Nothing more can be done there."));
      body.querySelector(lines ? ".lines button:not(:disabled)" : "input")?.focus();
    } catch (error) { replace(body, h("p", { class: "notice error" }, error.message)); }
  }

  async function kept(how) {
    try {
      const answer = await app.api("/api/plans/correct", { method: "POST", body: { ...asked, wrong: wrong ? wrong.action : null, ...how } });
      dialog.close();
      done(answer);
    } catch (error) { app.fail(error); }
  }

  function chosen(one) {
    dialog.classList.remove("drawing");
    app.shortcuts([], dialog);
    replace(body,
      h("p", {}, `At step ${step}, not `, instead(), ", but ", h("strong", {}, one.text), "."),
      h("p", { class: "small measure" }, "This becomes a correction beside the demonstrations. It says what should have been done here, and nothing about the steps before or what comes then; it counts as much as it has to for the task to follow it."),
      h("div", { class: "row end" }, h("button", { type: "button", onclick: pick }, "Another step"),
        one.value === null ? null : h("button", { type: "button", onclick: () => kept({ right: one.value, then: "hand" }) }, "Go on by hand"),
        h("button", { type: "button", class: "primary", onclick: () => kept({ right: one.value }) }, "Learn from it")));
    body.querySelector("button.primary").focus();
  }

  pick();
}
