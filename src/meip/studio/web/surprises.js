// Steps at which the task would rather have done something else: what was shown and what it would have done, side by side.

import { button, h, number, replace } from "./dom.js";
import { signed } from "./curve.js";
import { stateView } from "./state-view.js";

export function surpriseCards(root, rows, slip) {
  if (!rows.length) { replace(root, h("p", { class: "soft" }, "None: at every demonstrated step the task would have done the same, or something as good.")); return; }
  const few = rows.slice(0, 3), rest = rows.slice(3);
  replace(root, few.map((row) => card(row, slip)), rest.length ? h("details", {}, h("summary", {}, `${rest.length} more, less surprising`), h("div", { class: "stack" }, rest.map((row) => card(row, slip)))) : null);
}

function card(row, slip) {
  const names = row.demonstrations.map((one) => one.label).join(", ");
  const [, shown, rather] = row.views;
  return h("article", { class: "card surprise", "aria-label": `${names}, step ${row.step}` },
    h("header", {}, h("h3", {}, `${names}, step ${row.step}`), button(row.demonstrations.length > 1 ? "These were slips" : "This was a slip", () => ask(row, names, slip), { title: "Set it aside and learn again" })),
    h("div", { class: "versus" },
      side("Shown", row.shown, shown, "shown"),
      side("The task would rather", row.rather, rather, "rather")),
    h("p", { class: "small" }, `By ${number(row.by, 2)}`, row.because.length ? ": " : ".", row.because.map((one, k) => [k ? "; " : "", one.kind === "never" || one.kind === "order" ? `the other would break “${one.english}” ` : `${one.english} `, h("span", { class: "number" }, signed(one.adds))])));
}

function side(title, action, view, kind) {
  return h("div", { class: `side ${kind}` }, h("p", { class: "small" }, title), h("p", {}, h("strong", {}, action)), view ? h("div", { class: "side-view" }, stateView(view)) : h("p", { class: "soft" }, "The episode ends."));
}

function ask(row, names, slip) {
  const dialog = h("dialog", { "aria-labelledby": "slip-title" },
    h("h2", { id: "slip-title" }, row.demonstrations.length > 1 ? "Set these demonstrations aside?" : "Set this demonstration aside?"),
    h("p", {}, `${names}: it stays in the project, but is not learned from, and learning runs again without it. You can take it back in on the tab Learn.`),
    h("form", { method: "dialog" }, h("button", { value: "" }, "Cancel"), h("button", { class: "primary", value: "yes" }, "Set aside and learn again")));
  dialog.addEventListener("close", () => { if (dialog.returnValue === "yes") slip(row); dialog.remove(); });
  document.body.append(dialog);
  dialog.showModal();
}
