// What stands behind a statement: the demonstrated steps, what was done, and what else could have been done there.

import { h, number, plural, replace } from "./dom.js";
import { stateView } from "./state-view.js";

export function behindPanel(app, url) {
  const body = h("div", { class: "stack" });
  const element = h("aside", { class: "card behind", "aria-label": "What stands behind it", "aria-live": "polite" }, body);
  const replays = new Map();
  let turn = 0;

  function empty() {
    replace(body, h("h2", {}, "What stands behind it"), h("p", { class: "soft" }, "Choose a wish, an arrow of the order or a rule to see the demonstrated steps behind it, and what else could have been done there."));
  }

  async function show({ text, kind, english }) {
    const mine = ++turn;
    replace(body, h("h2", {}, capital(english)), h("code", { class: "formula" }, text), h("p", { class: "soft" }, "Looking …"));
    if (element.getBoundingClientRect().top > innerHeight) element.scrollIntoView({ block: "start" });
    try {
      const found = await app.api(`${url}/behind?text=${encodeURIComponent(text)}&kind=${encodeURIComponent(kind)}`);
      if (mine !== turn) return;
      const value = (v) => (found.boolean ? (v > 0.999 ? "yes" : v < 0.001 ? "no" : `${Math.round(v * 100)} % likely`) : number(v, 3));
      replace(body, h("h2", {}, capital(english)), h("code", { class: "formula" }, text),
        h("p", {}, found.steps ? [h("strong", {}, plural(found.for, "step")), " for it, ", h("strong", {}, String(found.against)), " against"] : "At no demonstrated step did it make a difference."),
        found.milestones.length ? milestones(found.milestones) : null,
        found.shown.length ? h("ol", { class: "evidence" }, found.shown.map((row) => item(row, found, value))) : null,
        more(found) > 0 ? h("p", { class: "small" }, `and ${more(found)} more`) : null);
    } catch (error) {
      if (mine === turn) replace(body, h("h2", {}, capital(english)), h("p", { class: "notice" }, error.message));
    }
  }

  function milestones(rows) {
    const at = (step) => (step === null ? "never" : step === 0 ? "at first" : `step ${step}`);
    return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), h("th", { scope: "col" }, "first"), h("th", { scope: "col" }, "then"))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.label), h("td", {}, at(row.first)), h("td", {}, at(row.then)))))));
  }

  function item(row, found, value) {
    const picture = h("div", {});
    const [file, place] = found.files[row.demonstration];
    const names = row.demonstrations.map((one) => one.label).join(", ");
    const details = h("details", { ontoggle: () => { if (details.open && !picture.childNodes.length) draw(picture, file, place, row.step); } },
      h("summary", {}, "the state, and the demonstration"), picture,
      h("a", { class: "small", href: `#record/demo/${encodeURIComponent(file)}/${place}/${row.step - 1}` }, `Open ${row.label}`));
    return h("li", { class: row.speaks > 0 ? "for" : row.speaks < 0 ? "against" : "" },
      h("div", { class: "spread small" }, h("span", {}, `${names}, step ${row.step}`), h("span", {}, row.speaks > 0 ? "for" : row.speaks < 0 ? "against" : "neither")),
      h("p", {}, h("strong", {}, row.action), h("span", { class: "chip meip" }, value(row.value))),
      h("ul", { class: "others" }, row.others.map((group) => h("li", { class: "small" }, h("span", { class: "chip" }, value(group.value)), ` ${plural(group.count, "other")}: ${group.examples.join("; ")}${group.count > group.examples.length ? " …" : ""}`))),
      details);
  }

  async function draw(picture, file, place, step) {
    const key = `${file} ${place}`;
    replace(picture, h("p", { class: "soft" }, "…"));
    try {
      if (!replays.has(key)) replays.set(key, app.api(`/api/demonstrations/${encodeURIComponent(file)}/replay?place=${place}`));
      const shown = await replays.get(key);
      replace(picture, stateView(shown.frames[Math.min(step - 1, shown.frames.length - 1)].state));
    } catch (error) { replace(picture, h("p", { class: "small" }, error.message)); }
  }

  empty();
  return { element, show };
}

const more = (found) => found.steps - found.shown.reduce((sum, row) => sum + row.demonstrations.length, 0);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
