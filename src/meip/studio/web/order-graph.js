// The learned order as boxes in layers, from top to bottom; an arrow says: only then. What follows from other arrows is
// left out. Each arrow can be chosen, to see what stands behind it.

import { h, replace, svg } from "./dom.js";

const BOX = 214, GAP = 28, RISE = 58, LINE = 18, PAD = 9, WRAP = 27;

export function orderGraph({ order, chosen }) {
  const told = order.edges.filter((edge) => edge.told);
  const rest = order.edges.length - told.length;
  const sure = order.edges.map((edge) => edge.confidence);
  const least = Math.floor(Math.min(0.5, ...sure) * 100), most = 99;
  const slider = h("input", { type: "range", id: "order-sure", min: least, max: most, value: least, step: 1, oninput: draw });
  const value = h("output", { for: "order-sure" });
  const all = h("input", { type: "checkbox", onchange: draw });
  const stage = h("div", { class: "scroll order-stage" });
  const count = h("p", { class: "small", role: "status" });

  const meaning = order.edges.some((edge) => edge.possible !== null)
    ? "80 % sure means: of ten orders like this one, eight were kept by every further demonstration of everyday tasks, also in changed worlds. It rests on how often the order could have been broken and was not; once or twice may be chance."
    : "The share of the members that want it.";

  function draw() {
    value.textContent = `${slider.value} %`;
    const shown = order.edges.filter((edge) => (all.checked || edge.told) && edge.confidence * 100 >= Number(slider.value) - 0.5);
    const edges = reduced(shown);
    const hidden = shown.length - edges.length;
    count.textContent = edges.length ? `${edges.length} shown${hidden ? `, ${hidden} more follow from them` : ""}` : "No order is as sure as that.";
    replace(stage, edges.length ? picture(edges) : null);
  }

  function picture(edges) {
    const rows = layers(edges);
    const text = Object.fromEntries(rows.flat().map((name) => [name, wrapped(order.names[name] ?? name)]));
    const width = Math.max(...rows.map((row) => row.length)) * (BOX + GAP) - GAP + 4;
    const places = {};
    let y = 2;
    for (const row of rows) {
      const high = Math.max(...row.map((name) => text[name].length)) * LINE + 2 * PAD;
      const left = (width - (row.length * (BOX + GAP) - GAP)) / 2;
      row.forEach((name, k) => { places[name] = { x: left + k * (BOX + GAP), y, high }; });
      y += high + RISE;
    }
    const tip = svg("defs", {}, svg("marker", { id: "order-tip", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { class: "tip", d: "M0,0 L10,5 L0,10 z" })));
    const boxes = Object.entries(places).map(([name, at]) => svg("g", { class: "order-box" }, svg("title", {}, name),
      svg("rect", { x: at.x, y: at.y, width: BOX, height: at.high, rx: 8 }),
      svg("text", { "text-anchor": "middle" }, text[name].map((line, k) => svg("tspan", { x: at.x + BOX / 2, y: at.y + at.high / 2 - (text[name].length - 1) * LINE / 2 + k * LINE + 5 }, line)))));
    const arrows = edges.map((edge) => arrow(edge, places));
    return svg("svg", { class: "order-graph", viewBox: `0 0 ${width} ${y - RISE + 4}`, width, height: y - RISE + 4, role: "group", "aria-label": "The learned order" }, tip, arrows, boxes);
  }

  function arrow(edge, places) {
    const a = places[edge.first], b = places[edge.then];
    const x1 = a.x + BOX / 2, y1 = a.y + a.high, x2 = b.x + BOX / 2, y2 = b.y - 3, middle = (y1 + y2) / 2;
    const d = `M${x1},${y1} C${x1},${middle} ${x2},${middle} ${x2},${y2}`;
    const sureness = edge.possible === null ? `${Math.round(edge.confidence * 100)} %` : edge.possible ? `${edge.possible} of ${edge.possible} times` : "no other way";
    const name = `${order.names[edge.first]} before ${order.names[edge.then]}: ${edge.possible === 0 ? "there was no other way" : `kept ${sureness}`}, ${Math.round(edge.confidence * 100)} % sure`;
    const pick = () => chosen({ text: edge.text, kind: "order", english: `${order.names[edge.first]} before ${order.names[edge.then]}` });
    return svg("g", { class: `order-arrow ${edge.possible === 0 ? "forced" : ""}`, tabindex: 0, role: "button", "aria-label": name, onclick: pick, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } } },
      svg("path", { class: "hit", d }), svg("path", { class: "stroke", d, "marker-end": "url(#order-tip)", "stroke-width": 1.2 + 2.4 * Math.max(0, edge.confidence - 0.5) }),
      svg("text", { class: "label", x: (x1 + x2) / 2 + 8, y: middle + 4 }, sureness));
  }

  draw();
  return h("div", { class: "stack" },
    h("div", { class: "row order-controls" },
      h("label", { for: "order-sure", title: meaning }, "As sure as"), slider, value,
      rest ? h("label", {}, all, `also what is not told (${rest})`) : null),
    count, stage, h("p", { class: "small measure" }, meaning));
}

function wrapped(text) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if ((lines.at(-1) + word).length > WRAP && lines.at(-1)) lines.push("");
    lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
  }
  return lines;
}

export function reduced(edges) {
  const after = {};
  for (const edge of edges) (after[edge.first] ??= []).push(edge.then);
  const reaches = (todo, goal, seen) => todo.some((one) => one === goal || (!seen.has(one) && (seen.add(one), reaches(after[one] ?? [], goal, seen))));
  return edges.filter((edge) => !reaches(after[edge.first].filter((one) => one !== edge.then), edge.then, new Set([edge.first])));
}

function layers(edges) {
  let left = [...new Set(edges.flatMap((edge) => [edge.first, edge.then]))];
  const found = [];
  while (left.length) {
    let ready = left.filter((name) => !edges.some((edge) => edge.then === name && edge.first !== name && left.includes(edge.first)));
    if (!ready.length) ready = left;
    found.push(ready);
    left = left.filter((name) => !ready.includes(name));
  }
  return found;
}
