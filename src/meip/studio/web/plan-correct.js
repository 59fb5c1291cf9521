// "This step is wrong": what would have been right, and how it goes on from there. The answer is a new demonstration.

import { actionPicker } from "./action-picker.js";
import { h, replace } from "./dom.js";
import { stateView } from "./state-view.js";

const THEN = [["task", "go on as the task would"], ["nothing", "stop there: it is done"], ["hand", "go on by hand, on the tab Record"]];

export async function correctDialog(app, { task, problem, plan, step }, done) {
  const begun = plan.steps.slice(0, step - 1).map(({ action, outcome }) => ({ action, outcome }));
  const asked = { task, problem, initial: plan.initial, steps: begun };
  const body = h("div", { class: "stack" }, h("p", { class: "soft" }, "…"));
  const dialog = h("dialog", { class: "correct", "aria-labelledby": "correct-title" }, h("h2", { id: "correct-title" }, plan.steps[step - 1] ? `Step ${step} is wrong` : "It should not stop here"), body,
    h("form", { method: "dialog" }, h("button", {}, "Cancel")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const ask = (search) => app.api("/api/plans/actions", { method: "POST", body: { ...asked, search } });

  async function pick() {
    try {
      const found = await ask("");
      const wrong = plan.steps[step - 1];
      replace(body, h("p", {}, "Not ", h("s", {}, wrong ? wrong.text : "to stop"), ", but:"), h("div", { class: "correct-view" }, stateView(found.view)),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => kept({ then: "hand" }) }, "Show it by hand, on the tab Record"),
          wrong && plan.goal === null && begun.length ? h("button", { type: "button", onclick: () => kept({ then: "nothing" }) }, "Stop before it") : null),
        found.actions.length ? actionPicker({ view: found, search: ask, pick: (one) => chosen(one) }) : h("p", { class: "soft" }, "Nothing more can be done there."));
    } catch (error) { replace(body, h("p", { class: "notice error" }, error.message)); }
  }

  async function kept(how) {
    try {
      const answer = await app.api("/api/plans/correct", { method: "POST", body: { ...asked, ...how } });
      dialog.close();
      done(answer);
    } catch (error) { app.fail(error); }
  }

  async function chosen(one, then = "task") {
    try {
      const found = await app.api("/api/plans/correct", { method: "POST", body: { ...asked, right: one.value, then, keep: false } });
      const list = h("ol", { class: "steps" }, found.steps.map((text, k) => h("li", { class: k === found.begun - 1 ? "latest" : k >= found.begun ? "guessed" : "" }, text)));
      replace(body, h("p", {}, "Then"),
        h("fieldset", { class: "stack" }, h("legend", { class: "visually-hidden" }, "How it goes on"), THEN.map(([value, label]) => h("label", {}, h("input", { type: "radio", name: "then", value, checked: value === then, onchange: () => chosen(one, value) }), label))),
        h("p", { class: "small" }, "This will be the new demonstration:"), list,
        h("div", { class: "row end" }, h("button", { type: "button", onclick: pick }, "Another step"),
          h("button", { type: "button", class: "primary", onclick: () => kept({ right: one.value, then }) }, then === "hand" ? "Go on by hand" : "Learn from it")));
      body.querySelector("button.primary").focus();
    } catch (error) { replace(body, h("p", { class: "notice error" }, error.message)); }
  }

  pick();
}
