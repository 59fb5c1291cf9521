// What can be demonstrated: one card for each problem, as it looks at its beginning.

import { button, h, replace } from "./dom.js";
import { bringBack } from "./record-shelf.js";
import { stateView } from "./state-view.js";

const SOURCES = { file: "in this project", own: "yours" };

export async function beginnings(stage, app, list) {
  const problems = (await app.refresh()).problems;
  const cards = h("ul", { class: "cards problems" });
  replace(stage,
    h("div", { class: "page-head" }, h("h2", { class: "big" }, "Show how it is done"),
      button("Import …", () => list.pickFiles(), { key: "I", title: "Demonstrations (.json, .jsonl) or problems (.json, .pddl)" })),
    h("p", { class: "soft measure" }, "Choose a problem and do it as you would. A few demonstrations are enough; vary what does not matter to you."),
    cards);
  app.shortcuts([{ keys: "i", label: "Import files", run: () => list.pickFiles() }, bringBack]);
  let left = false;
  const builtIn = problems.filter((one) => one.source === "built-in");
  if (builtIn.length) {
    stage.append(h("section", { class: "built-in", "aria-labelledby": "built-in-title" }, h("h3", { id: "built-in-title" }, "Or in a world that is built in, as it is by default"),
      h("div", { class: "row" }, builtIn.map((problem) => h("button", { type: "button", "aria-label": `Record in ${problem.title}, built in`, onclick: () => start(app, problem.id, 0) }, problem.title)))));
  }
  for (const problem of problems.filter((one) => one.source !== "built-in")) {
    const picture = h("div", { class: "preview", "aria-hidden": "true" });
    const starts = h("div", { class: "starts" });
    cards.append(h("li", { class: "card problem" }, picture,
      h("div", { class: "spread" }, h("h3", {}, problem.title), h("span", { class: "chip" }, SOURCES[problem.source])),
      starts, begin(app, problem, starts)));
    preview(app, problem, picture, starts, () => left);
  }
  return () => { left = true; };
}

function begin(app, problem, starts) {
  return h("button", { type: "button", class: "primary", "aria-label": `Record in ${problem.title}`, onclick: () => start(app, problem.id, Number(starts.querySelector("select")?.value ?? 0)) }, "Record");
}

async function start(app, problem, initial) {
  try {
    const draft = await app.api("/api/drafts", { method: "POST", body: { problem, initial } });
    app.go(`record/draft/${encodeURIComponent(draft.name)}`);
  } catch (error) { app.fail(error); }
}

async function preview(app, problem, picture, starts, left) {
  try {
    const found = await app.api(`/api/problems/preview?id=${encodeURIComponent(problem.id)}`);
    if (left()) return;
    replace(picture, stateView(found.state, { words: !found.state.scene && !found.state.pictures.length }));
    if (found.initial.length > 1) {
      replace(starts, h("label", { class: "field" }, "Begins as", h("select", {}, found.initial.map((words, k) => h("option", { value: k }, words)))));
    }
  } catch (error) {
    if (!left()) replace(picture, h("p", { class: "notice error small" }, error.message));
  }
}
