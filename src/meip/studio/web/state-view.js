// A state as its world shows it: a scene of sheets, pictures, or the table of facts with what changed.
//
//   stateView(view, {xray, label})            an element; view is what `drawing.state_view` made
//   sceneSvg(scene, {xray, label, without})   the scene alone, with the groups `sheets` and `over` to draw in
//   motionView(view, motion, {label})         {element, at(t)}: the step that led to this state, 0 <= t <= 1

import { drawn, h, number, svg } from "./dom.js";

let clips = 0;

export function stateView(view, { xray = false, label = "", words = true } = {}) {
  return h("div", { class: "state" }, shown(view, xray, label), words && view.words && !view.pictures.some((one) => one.html) ? h("p", { class: "state-words" }, view.words) : null);
}

function shown(view, xray, label) {
  if (view.scene) return h("div", { class: "scene" }, sceneSvg(view.scene, { xray, label: label || view.words }).element);
  if (view.pictures.length) {
    return h("div", { class: "pictures" }, view.pictures.map((one) => h("figure", {},
      one.html ? h("div", { class: "picture-html" }, drawn(one.html, "html")) : one.svg ? drawn(one.svg) : null,
      one.note && one.note !== view.words ? h("figcaption", { class: "small" }, one.note) : null)));
  }
  return view.facts ? factsTable(view.facts) : null;
}

// --- facts ---

const FEW = 24;  // so many facts that never change are shown, more are folded away
const CHANGES = { "+": ["ins", "new"], "-": ["del", "no longer"], "~": ["ins", "changed"] };

/** Fluent by fluent; what changed comes first, marked by a sign and a word as well as by colour. */
export function factsTable(rows) {
  const moving = rows.filter((row) => !row.static);
  const fixed = rows.filter((row) => row.static && row.entries.length);
  return h("div", { class: "facts stack" },
    table(moving, "What is so now"),
    fixed.length ? h("details", { open: count(fixed) <= FEW }, h("summary", {}, "What is always so"), table(fixed, "What is always so")) : null);
}

const count = (rows) => rows.reduce((sum, row) => sum + row.entries.length, 0);

function table(rows, caption) {
  return h("div", { class: "scroll" }, h("table", { class: "fact-table" }, h("caption", { class: "visually-hidden" }, caption),
    h("tbody", {}, rows.map((row) => h("tr", { class: row.changed ? "changed" : null },
      h("th", { scope: "row" }, row.name),
      h("td", {}, row.entries.length ? row.entries.map((entry) => [fact(entry), " "]) : h("span", { class: "soft" }, "–"),
        row.more ? h("span", { class: "soft" }, `and ${row.more} more`) : null))))));
}

function fact(entry) {
  const value = entry.value === null ? "" : ` = ${number(entry.value)}`;
  const was = entry.was === null ? "" : ` (was ${number(entry.was)})`;
  if (!entry.change) return h("span", { class: "fact" }, entry.text + value);
  const [tag, word] = CHANGES[entry.change];
  return h(tag, { class: "fact" }, h("span", { class: "visually-hidden" }, `${word}: `), entry.text + value + was);
}

// --- scenes ---

const flipped = ([x, y]) => `${round(x)},${round(-y)}`;
const round = (value) => Math.round(value * 1000) / 1000;
export const pointsOf = (outline) => outline.map(flipped).join(" ");

/** The scene as SVG. `without`: so many of the topmost sheets are left out, for an animation that brings them. */
export function sceneSvg(scene, { xray = false, label = "", without = 0 } = {}) {
  const [x0, y0, x1, y1] = scene.box;
  const sheets = svg("g", { class: "sheets" });
  const over = svg("g", { class: "over" });
  const element = svg("svg", { class: ["scene-svg", xray && "xray"], viewBox: `${round(x0)} ${round(-y1)} ${round(x1 - x0)} ${round(y1 - y0)}`, role: "img", "aria-label": label, preserveAspectRatio: "xMidYMid meet" }, sheets, over);
  const lying = without ? scene.sheets.slice(0, -without) : scene.sheets;
  sheets.append(...lying.map((sheet) => sheetSvg(sheet, sheet.points, sheet.side)));
  if (xray) over.append(...lying.flatMap((sheet) => edges(sheet, sheet.points, "hidden-edge")));
  return { element, sheets, over };
}

function sheetSvg(sheet, points, side) {
  const group = svg("g", { class: `sheet ${side}` }, svg("polygon", { class: "cloth", points: pointsOf(points) }));
  if (sheet.prints.length && points === sheet.points) {
    const id = `clip-${++clips}`;
    group.append(svg("clipPath", { id }, svg("polygon", { points: pointsOf(points) })),
      ...sheet.prints.map((print) => svg("polygon", { class: "print", points: pointsOf(print), "clip-path": `url(#${id})` })));
  }
  group.append(...edges(sheet, points));
  return group;
}

function edges(sheet, points, extra = "") {
  return sheet.edges.map((kind, i) => {
    const [x1, y1] = points[i];
    const [x2, y2] = points[(i + 1) % points.length];
    return svg("line", { class: `edge ${kind} ${extra}`, x1: round(x1), y1: round(-y1), x2: round(x2), y2: round(-y2) });
  });
}

/** The step that led to this state, at any moment of it: what moves goes over from where it lay to where it lands. */
export function motionView(view, motion, { label = "", xray = false } = {}) {
  const count = motion?.lands?.length ?? 0;
  if (!view.scene || !count || count > view.scene.sheets.length) return { element: stateView(view, { label, xray, words: false }), at: () => {} };
  const { element, over } = sceneSvg(view.scene, { xray, label: label || view.words, without: count });
  const moving = view.scene.sheets.slice(-count);
  const lay = svg("g", { class: "moving" });
  over.append(lay);
  const at = (t) => {
    const eased = t * t * (3 - 2 * t);
    const turned = Math.cos(Math.PI * eased);  // seen from above, what turns over shrinks to the crease and grows again
    lay.replaceChildren(...moving.map((sheet, k) => {
      const points = motion.moves[k].map(([x, y], i) => {
        const [u, v] = motion.lands[k][i];
        const share = (1 - turned) / 2;
        return [x + (u - x) * share, y + (v - y) * share];
      });
      const side = eased > 0.5 ? sheet.side : sheet.side === "front" ? "back" : "front";
      return eased >= 1 ? sheetSvg(sheet, sheet.points, sheet.side) : sheetSvg({ ...sheet, prints: [] }, points, side);
    }));
  };
  at(1);
  return { element: h("div", { class: "state" }, h("div", { class: "scene" }, element)), at };
}

export const stillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Play a motion once, in so many milliseconds; at once where less motion is asked for. */
export function play(at, milliseconds = 450) {
  if (stillness()) { at(1); return Promise.resolve(); }
  return new Promise((done) => {
    const begun = performance.now();
    const frame = (now) => {
      const t = Math.min(1, (now - begun) / milliseconds);
      at(t);
      if (t < 1) requestAnimationFrame(frame); else done();
    };
    requestAnimationFrame(frame);
  });
}
