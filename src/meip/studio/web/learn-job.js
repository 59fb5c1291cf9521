// A job as it goes: what has been found so far, how many choices that foresees, and the curve of the objective.

import { button, h, number, plural, replace, svg } from "./dom.js";

const STAGES = {
  reading: "Reading the demonstrations", replay: "Replaying the demonstrations", choices: "Looking at what else could have been done", bank: "Listing what can be said", corrections: "Counting corrections until they are followed", restarted: "The worker was killed: it is started again", statements: "Listing statements about them", candidates: "Listing statements about them",
  price: "Finding the price of a statement", curves: "Looking at curves", members: "Fitting members", rules: "Looking for what is never done",
  order: "Looking at the order", score: "Trying whether histories count", planning: "Trying how to plan", told: "Putting it into a few statements", done: "A last fit", round: "Fitting",
};
const WORDS = { waiting: "Waiting for a worker", running: "Learning", done: "Learned", failed: "It did not work", cancelled: "Cancelled", interrupted: "Interrupted" };
const ACTIVE = ["waiting", "running"];

export function jobView({ cancel, resume, open, plan }) {
  const title = h("h2", { class: "big" });
  const state = h("span", { class: "chip" });
  const buttons = h("div", { class: "row" });
  const message = h("div", { class: "stack" });
  const now = h("p", { class: "soft", role: "status" });
  const bar = h("progress", { "aria-label": "Progress of this stage" });
  const foreseen = h("div", { class: "foreseen" });
  const sofar = h("span", {}, " so far");
  const found = { wanted: column("Wanted"), order: column("Order"), never: column("Never") };
  const chart = objectiveChart();
  const element = h("section", { class: "card stack job", "aria-label": "The job" },
    h("header", { class: "spread" }, h("div", { class: "row" }, title, state), buttons),
    message, h("div", { class: "now" }, now, bar), foreseen,
    h("div", { class: "found" }, Object.values(found).map((one) => one.element)), chart.element);
  let points = [];
  let names = {};

  function column(label) {
    const list = h("ul", {});
    return { list, element: h("div", { class: "found-column" }, h("h2", {}, label), list) };
  }

  function begin(job) {
    points = [];
    names = {};
    for (const one of Object.values(found)) replace(one.list, h("li", { class: "soft" }, "nothing yet"));
    replace(foreseen);
    now.textContent = "";
    bar.removeAttribute("value");
    chart.draw([]);
    update(job, []);
  }

  function update(job, rows) {
    title.textContent = job.spec.task.replace(/\.json$/, "");
    state.textContent = WORDS[job.status] ?? job.status;
    state.className = `chip ${job.status === "done" ? "meip" : ""}`;
    const active = ACTIVE.includes(job.status);
    replace(buttons,
      active ? button("Cancel", cancel, { key: "c" }) : null,
      !active && job.status !== "done" ? button("Resume", resume, { kind: "primary" }) : null,
      job.status === "done" ? [button("Understand", () => open(title.textContent), { kind: "primary" }), button("Plan", () => plan(title.textContent))] : null);
    replace(message,
      job.message && job.status !== "cancelled" ? h("p", { class: "notice error" }, job.message) : null,
      job.result?.sentence ? h("p", { class: "lead" }, job.result.sentence) : null,
      (job.result?.warnings ?? []).map((text) => h("p", { class: "notice" }, text)));
    for (const row of rows) take(row);
    if (rows.length) chart.draw(points);
    bar.hidden = sofar.hidden = !active;
    if (!active) now.textContent = `${plural(job.attempts, "attempt")}, ${job.finished ? `${number(job.finished - job.created, 2)} s` : ""}`;
    else if (job.status === "waiting") now.textContent = WORDS.waiting;
  }

  function take(row) {
    Object.assign(names, row.english ?? {});
    const stage = STAGES[row.stage] ?? row.stage;
    const counts = counted(row);
    now.textContent = counts ? `${stage}: ${counts}` : stage;
    const [done, all] = row.members ? [row.done, row.members] : [row.replayed, row.demonstrations];
    if (typeof done === "number" && all) { bar.max = all; bar.value = done; } else bar.removeAttribute("value");
    if (row.stage === "restarted") points = [];
    if (typeof row.objective === "number") points.push({ stage: row.stage, value: row.objective });
    const wanted = row.wanted ?? (Array.isArray(row.concepts) ? row.concepts.map((text) => [text, 1]) : null);
    if (row.impressions) fill("wanted", [h("li", { class: "soft" }, "at a first look"), ...row.impressions.map(([text, weight]) => said(text, weight < 0 ? "rather not: " : ""))]);
    if (wanted) fill("wanted", wanted.map(([text, weight]) => said(text, weight < 0 ? "rather not: " : "")));
    if (row.order) fill("order", reduced(row.order).map(([first, then]) => h("li", { title: `${first}, then ${then}` }, english(first), h("span", { class: "then" }, " before "), english(then))));
    if (row.never) fill("never", row.never.map((text) => said(text)));
    if (typeof row.foreseen === "number") {
      const share = row.choices ? row.foreseen / row.choices : 0;
      replace(foreseen, h("span", { class: "figure" }, `${number(Math.round(row.foreseen))} of ${row.choices}`), h("span", {}, "choices foreseen", sofar), h("meter", { min: 0, max: 1, value: share, "aria-label": "Share of the choices foreseen" }));
    }
  }

  /** How far a stage is, and what it has looked at. */
  function counted(row) {
    if (row.done && row.members) return `${row.done} of ${row.members}`;
    if (row.stage === "reading" && row.demonstrations) return `${row.demonstrations}`;
    if (row.stage === "replay") return `${row.replayed} of ${row.demonstrations}`;
    if (row.stage === "choices") return `${plural(row.choices, "choice")}, ${plural(row.alternatives, "alternative")}, ${plural(row.states, "state")}`;
    if (row.stage === "bank") return [`level ${row.level}`, row.terms && plural(row.terms, "term"), `${plural(row.found, "concept")} so far`].filter(Boolean).join(", ");
    if (row.stage === "corrections") return `${row.followed} of ${row.corrections}`;
    if (typeof row.concepts !== "number") return "";
    return [plural(row.concepts, "concept"), typeof row.candidates === "number" && plural(row.candidates, "candidate")].filter(Boolean).join(", ");
  }

  const english = (text) => names[text] ?? text;
  const said = (text, lead = "") => h("li", { title: text }, lead + english(text));
  const fill = (name, items) => replace(found[name].list, items.length ? items : h("li", { class: "soft" }, "nothing"));

  return { element, begin, update, away: () => { now.textContent = "The studio does not answer; the worker goes on. Trying again …"; } };
}

/** Without what follows from the rest: a before c where a is before b and b before c. */
function reduced(pairs) {
  const after = new Map();
  for (const [a, b] of pairs) after.set(a, [...(after.get(a) ?? []), b]);
  const reaches = (from, to, seen = new Set()) => from.some((one) => one === to || (!seen.has(one) && seen.add(one) && reaches(after.get(one) ?? [], to, seen)));
  return pairs.filter(([a, b]) => !reaches((after.get(a) ?? []).filter((one) => one !== b), b));
}

/** The objective at each thing told: nats, so that 0 is to foresee every choice for sure. Stage by stage. */
function objectiveChart() {
  const wide = 640, high = 200, left = 52, right = 12, top = 14, bottom = 34;
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "objective", role: "img", "aria-label": "The objective, no points yet" });
  const title = h("figcaption", { class: "small" });
  const element = h("figure", { class: "chart" }, title, picture);

  function draw(points) {
    title.textContent = points.every((one) => one.stage in LABELS && one.stage !== "round") ? "How well the shown choices are explained: log-likelihood in nats, 0 at best" : "The objective as concepts are added: higher is better";
    picture.classList.toggle("bare", !points.length);
    if (!points.length) { title.append(": no points yet"); return; }
    const values = points.map((one) => one.value);
    const low = Math.min(...values), upper = Math.max(low < 0 ? 0 : low, ...values);
    const x = (k) => left + (points.length > 1 ? k / (points.length - 1) : 0.5) * (wide - left - right);
    const y = (value) => top + (upper - value) / ((upper - low) || 1) * (high - top - bottom);
    const parts = [];
    for (const value of [upper, (upper + low) / 2, low]) {
      parts.push(svg("line", { class: "axis", x1: left, x2: wide - right, y1: y(value), y2: y(value) }), svg("text", { class: "label", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, number(value, 3)));
    }
    const groups = [];
    points.forEach((one, k) => { if (groups.at(-1)?.stage === one.stage) groups.at(-1).to = k; else groups.push({ stage: one.stage, from: k, to: k }); });
    const few = points.length <= 120;
    let labelled = -Infinity;
    for (const [number_, group] of groups.entries()) {
      const path = [];
      for (let k = group.from; k <= group.to; k++) path.push(`${x(k).toFixed(1)},${y(points[k].value).toFixed(1)}`);
      if (number_) parts.push(svg("line", { class: "divider", x1: (x(group.from - 1) + x(group.from)) / 2, x2: (x(group.from - 1) + x(group.from)) / 2, y1: top, y2: high - bottom }));
      parts.push(svg("polyline", { class: "line-meip", points: path.join(" ") }));
      if (few) parts.push(...path.map((point) => { const [cx, cy] = point.split(","); return svg("circle", { class: "point-meip", cx, cy, r: 2.6 }); }));
      const middle = Math.min(Math.max((x(group.from) + x(group.to)) / 2, left + 4), wide - right - 28);
      if (middle - labelled > 52) { parts.push(svg("text", { class: "label", x: middle, y: high - 14, "text-anchor": "middle" }, LABELS[group.stage] ?? group.stage)); labelled = middle; }
    }
    picture.setAttribute("aria-label", `The objective went from ${number(values[0])} to ${number(values.at(-1))} nats in ${plural(points.length, "point")}`);
    picture.dataset.points = points.length;
    replace(picture, ...parts);
  }
  return { element, draw };
}

const LABELS = { candidates: "chance", price: "held out", members: "members", told: "statements", round: "rounds" };
