// Tab 1: what there is on the left, and what is looked at or recorded beside it.
//
//   #record                        problems to begin with
//   #record/draft/NAME             a draft
//   #record/demo/FILE/PLACE/STEP   a demonstration, replayed

import { h, replace } from "./dom.js";
import { editor } from "./record-draft.js";
import { replay } from "./record-replay.js";
import { shelf } from "./record-shelf.js";
import { beginnings } from "./record-begin.js";

export async function mount(root, app) {
  const side = h("aside", { class: "shelf", "aria-label": "Drafts and demonstrations" });
  const stage = h("div", { class: "stage" });
  replace(root, h("h1", { class: "visually-hidden" }, "Record demonstrations"), side, stage);
  const [kind, name, ...more] = app.path;
  const list = shelf(side, app, { kind, name });
  await list.refresh();
  let leave = null;
  try {
    if (kind === "draft" && name) leave = await editor(stage, app, name, list);
    else if (kind === "demo" && name) leave = await replay(stage, app, name, Number(more[0] ?? 0) || 0, Number(more[1] ?? 0) || 0, list);
    else leave = await beginnings(stage, app, list);
  } catch (error) {
    if (!(error instanceof app.ApiError)) throw error;
    replace(stage, h("section", { class: "empty" }, h("h2", {}, "This cannot be shown"), h("p", { class: "notice error" }, error.message),
      h("a", { class: "button", href: "#record" }, "Back to the beginning")));
  }
  return () => leave?.();
}
