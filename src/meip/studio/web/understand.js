// Understand: the sentence and its figure; wishes with their curves, the order, what is never done; what stands behind
// each of them; and the steps that surprise.

import { button, h, number, plural, replace } from "./dom.js";
import { behindPanel } from "./behind.js";
import { curveEditor } from "./curve.js";
import { orderGraph } from "./order-graph.js";
import { surpriseCards } from "./surprises.js";
import { chosenTask, noTasks, taskSelect } from "./task-select.js";

const KINDS = { wanted: "wanted", avoided: "rather not", late: "late", first: "first", done: "in the end", shaped: "shaped" };

export async function mount(root, app) {
  const { tasks, name } = await chosenTask(app);
  if (!name) { noTasks(root); return null; }
  const url = `/api/understand/${encodeURIComponent(name)}`;
  let told = await app.api(url);
  let gone = false;

  const head = h("section", { class: "card stack", "aria-labelledby": "sentence" });
  const wishes = h("div", { class: "wish-grid" });
  const readings = h("div", { class: "wish-grid" });
  const order = h("div", {});
  const never = h("ul", { class: "never" });
  const odd = h("div", { class: "stack" }, h("p", { class: "soft" }, "Looking at every step …"));
  const panel = behindPanel(app, url);
  const more = h("details", { ontoggle: () => { if (more.open) drawReadings(); } }, h("summary", {}, "Everything that plans go by"), h("p", { class: "small measure" }, "Plans weigh all of these. What is told above is a small model of its own; an edit of a statement changes what says nearly the same along with it, an edit here one concept alone."), readings);

  replace(root,
    h("div", { class: "page-head" }, h("h1", {}, "What matters"), taskSelect(tasks, name, (next) => app.go(`understand/${encodeURIComponent(next)}`))),
    h("div", { class: "understand-grid" },
      h("div", { class: "stack wide-gap" }, head,
        section("wishes", "What is wanted", "Each drawing shows what it adds to the utility, all on one scale. Drag the knot, or use the arrow keys; the dashed line is as it was learned.", wishes),
        section("order", "In which order", "", order),
        section("never", "What is never done", "", never),
        section("odd", "Steps that surprise", "Where the task would rather have done something else. Each demonstration is judged by what the others taught.", odd),
        more),
      panel.element));

  function section(id, title, help, body) {
    return h("section", { class: "stack", "aria-labelledby": `h-${id}` }, h("h2", { id: `h-${id}` }, title), help ? h("p", { class: "small measure" }, help) : null, body);
  }

  function show() {
    const figure = told.foreseen;
    replace(head,
      h("p", { class: "lead sentence", id: "sentence" }, told.sentence.replace(/ This foresees [^.]*\.$/, "")),
      figure ? h("div", { class: "foreseen" }, h("span", { class: "figure meip" }, `${number(Math.round(figure.count))} of ${figure.choices}`), h("span", {}, `shown choices foreseen; by chance ${figure.by_chance >= 0.5 ? Math.round(figure.by_chance) : "fewer than 1"}`), h("meter", { min: 0, max: figure.choices, value: figure.count, "aria-label": "Choices foreseen" })) : h("p", { class: "small" }, `Kendall tau of the demonstrations ${number(told.tau)}`),
      h("p", { class: "small" }, `From ${plural(told.demonstrations, "demonstration")}${told.members > 1 ? `, ${told.members} members` : ""}.`),
      told.warnings.map((text) => h("p", { class: "notice" }, text)),
      told.edits.length ? h("div", { class: "edits" }, h("strong", {}, plural(told.edits.length, "edit by hand", "edits by hand")), h("ul", {}, told.edits.map((edit) => h("li", { class: "small" }, h("code", {}, edit.concept), ` from ${edit.before.map((w) => number(w, 3)).join(", ")} to ${edit.after.map((w) => number(w, 3)).join(", ")}${edit.note ? ` (${edit.note})` : ""}`))), h("div", { class: "row" }, button("Reset all", () => reset(null)), h("a", { class: "button", href: `#plan/${encodeURIComponent(name)}` }, "See what it would do now"))) : null);
    drawWishes();
    replace(order, told.order.edges.length ? orderGraph({ order: told.order, chosen: pick }) : h("p", { class: "soft" }, "No order was learned."));
    replace(never, told.never.length ? told.never.map((rule) => h("li", {}, h("button", { type: "button", class: "statement", onclick: () => pick({ text: rule.text, kind: "never", english: rule.english }) }, h("span", {}, capital(rule.english)), h("code", { class: "formula" }, rule.text)), h("span", { class: "small" }, rule.told ? `${number(rule.evidence, 2)} nats` : "little speaks for it: not told"))) : h("li", { class: "soft" }, "Nothing was possible again and again and never done."));
    if (more.open) drawReadings();
  }

  function scale(items) {
    const heights = items.flatMap((one) => [...one.curve, ...one.fitted].map(([, y]) => y));
    const high = Math.max(0, ...heights), low = Math.min(0, ...heights);
    const room = ((high - low) || 1) * 0.3;
    return { low: low - room, high: high + room };
  }

  function drawWishes() {
    const items = told.wishes.length ? told.wishes : told.readings.filter((one) => !one.first).slice(0, 12);
    const range = scale(items);
    replace(wishes, items.length ? items.map((one) => card(one, range)) : h("p", { class: "soft" }, "No wish was found."));
  }

  function drawReadings() {
    const range = scale(told.readings);
    replace(readings, told.readings.map((one) => card(one, range)));
  }

  function card(one, { low, high }) {
    const edited = told.edits.some((edit) => edit.concept === one.text);
    return h("article", { class: "card wish", dataset: { concept: one.text } },
      h("button", { type: "button", class: "statement", "aria-label": `${capital(one.english)}: show what stands behind it`, onclick: () => pick({ text: one.text, kind: one.kind, english: one.english }) },
        h("span", { class: "wish-title" }, capital(one.english)), h("code", { class: "formula" }, one.text)),
      one.form === "ending" ? h("p", { class: "small" }, "Every demonstration ended so. It has no weight of its own.") : [h("div", { class: "share", role: "img", "aria-label": `${Math.round(one.share * 100)} % of what plans go by` }, bar(one.share)),
      h("div", { class: "spread small" }, h("span", {}, `${Math.round(one.share * 100)} % of what plans go by`), h("span", {}, one.evidence ? `${number(one.evidence, 2)} nats` : KINDS[one.kind] ?? "")),
      curveEditor({ item: one, low, high, label: one.english, changed: (weights) => edit(one, weights) })],
      h("div", { class: "row card-foot" }, edited ? [h("span", { class: "chip" }, "edited"), button("Reset", () => reset(one.text), { kind: "quiet small-button" })] : null));
  }

  function bar(share) {
    const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    box.setAttribute("viewBox", "0 0 100 4");
    box.setAttribute("preserveAspectRatio", "none");
    for (const [kind, width] of [["share-back", 100], ["share-front", Math.max(0.5, share * 100)]]) {
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      rect.setAttribute("class", kind);
      rect.setAttribute("width", width);
      rect.setAttribute("height", 4);
      box.append(rect);
    }
    return box;
  }

  const pick = (statement) => panel.show(statement);

  async function edit(one, weights) {
    try {
      told = await app.api(`${url}/edits`, { method: "POST", body: { text: one.text, weights, note: "" } });
      app.status(`${capital(one.english)}: kept as an edit`, "good", { label: "See the plan", run: () => app.go(`plan/${encodeURIComponent(name)}`) });
    } catch (error) { app.fail(error); }
    again(one.text);
  }

  async function reset(text) {
    try {
      told = await app.api(`${url}/reset`, { method: "POST", body: { text } });
      app.status(text ? "As it was learned" : "Everything is as it was learned", "good");
    } catch (error) { app.fail(error); }
    again(text);
  }

  function again(text) {
    if (gone) return;
    show();
    root.querySelector(`[data-concept="${CSS.escape(text ?? "")}"] .knot[tabindex]`)?.focus({ preventScroll: true });
  }

  async function surprises() {
    try {
      const found = await app.api(`${url}/surprises`);
      if (!gone) surpriseCards(odd, found, slip);
    } catch (error) { if (!gone) replace(odd, h("p", { class: "notice" }, error.message)); }
  }

  async function slip(row) {
    try {
      const job = await app.api(`${url}/slip`, { method: "POST", body: { files: row.demonstrations.map((one) => one.file), step: row.step } });
      app.status("Set aside; learning runs again", "good");
      app.go(`learn/${job.id}`);
    } catch (error) { app.fail(error); }
  }

  show();
  history.replaceState(null, "", `#understand/${encodeURIComponent(name)}`);
  surprises();
  return () => { gone = true; };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
