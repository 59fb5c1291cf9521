// "This step is wrong": what would have been right there. The answer is a correction, which is learned from with the rest.

import { actionPicker } from "./action-picker.js";
import { h, replace } from "./dom.js";
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
  const instead = () => [h("s", {}, wrong ? wrong.text : "to stop")];

  async function pick() {
    try {
      const found = await ask("");
      replace(body, h("p", {}, "Not ", instead(), ", but:"), h("div", { class: "correct-view" }, stateView(found.view)),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => kept({ then: "hand" }) }, "Show it by hand, on the tab Record"),
          wrong && plan.goal === null && begun.length ? h("button", { type: "button", onclick: () => chosen({ value: null, text: "stop before it" }) }, "Stop before it") : null),
        found.actions.length ? actionPicker({ view: found, search: ask, pick: chosen }) : h("p", { class: "soft" }, "Nothing more can be done there."));
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
