// What a concept adds to the utility, over its value: knots that are dragged, by mouse, touch or keys; the fitted curve
// dashed.
//
//   curveEditor({item, low, high, changed})   an element; item = {curve, fitted, form, english}; changed(weights)

import { h, number, replace, svg } from "./dom.js";

const WIDE = 300, HIGH = 132, LEFT = 44, RIGHT = 16, TOP = 14, BOTTOM = 24;

export function curveEditor({ item, low, high, changed, label }) {
  const truth = item.form === "boolean";
  const plain = truth || item.form === "linear";
  const points = item.curve.map((point) => [...point]);
  const xs = [...points, ...item.fitted].map(([x]) => x);
  const first = Math.min(...xs), last = Math.max(...xs);
  const margin = truth ? 48 : 10;
  let bottom = low, top = high;
  const across = (x) => LEFT + margin + (x - first) / ((last - first) || 1) * (WIDE - LEFT - RIGHT - 2 * margin);
  const up = (y) => TOP + (top - y) / ((top - bottom) || 1) * (HIGH - TOP - BOTTOM);
  const back = (pixel) => top - (pixel - TOP) / (HIGH - TOP - BOTTOM) * (top - bottom);
  const picture = svg("svg", { class: "curve-editor", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": `What this adds: ${label}` });
  const axis = svg("g", {}), fitted = svg("g", { class: "fitted" }), now = svg("g", { class: "now" }), grips = svg("g", {});
  picture.append(axis, fitted, now, grips);
  const said = h("output", { class: "small curve-value" });
  let dragged = -1, before = 0, waiting = 0;

  const path = (list) => list.map(([x, y]) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`).join(" ");

  function draw() {
    const zero = up(0);
    replace(axis,
      svg("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: zero, y2: zero }),
      svg("text", { class: "label", x: LEFT - 6, y: zero + 4, "text-anchor": "end" }, "0"),
      Math.abs(up(top) - zero) > 14 ? svg("text", { class: "label", x: LEFT - 6, y: up(top) + 4, "text-anchor": "end" }, number(top, 2)) : null,
      Math.abs(up(bottom) - zero) > 14 ? svg("text", { class: "label", x: LEFT - 6, y: up(bottom) + 4, "text-anchor": "end" }, number(bottom, 2)) : null,
      ends().map(([x, text, anchor]) => svg("text", { class: "label", x, y: HIGH - 6, "text-anchor": anchor }, text)));
    replace(fitted, (item.members ?? []).map((one) => svg("polyline", { class: "member-line", points: path(one) })), svg("polyline", { points: path(item.fitted) }));
    if (truth) {
      const [x, y] = points.at(-1);
      replace(now, svg("line", { class: "stem", x1: across(x), x2: across(x), y1: zero, y2: up(y) }), svg("polyline", { class: "line-meip", points: path(points) }));
    } else replace(now, svg("polyline", { class: "line-meip", points: path(points) }));
    points.forEach(([x, y], k) => {
      const grip = grips.children[k];
      grip.setAttribute("cx", across(x));
      grip.setAttribute("cy", up(y));
      if (grip.hasAttribute("tabindex")) { grip.setAttribute("aria-valuenow", y.toFixed(3)); grip.setAttribute("aria-valuetext", `adds ${number(y, 3)}`); }
    });
    const [, y] = points[dragged >= 0 ? dragged : points.length - 1];
    said.textContent = plain ? `adds ${signed(points.at(-1)[1])}${truth ? "" : " each"}` : dragged >= 0 ? `at ${number(points[dragged][0])}: adds ${signed(y)}` : "";
  }

  function ends() {
    if (truth) return [[across(first), "no", "middle"], [across(last), "yes", "middle"]];
    if (plain) return [[across(first), "none", "middle"], [across(last), "one more", "middle"]];
    return [[across(first), number(first), "start"], [across(last), number(last), "end"]];
  }

  points.forEach((_, k) => {
    const free = !plain || k === points.length - 1;
    const grip = svg("circle", { class: free ? "knot" : "knot fixed", r: free ? 7 : 3.5, ...(free ? { tabindex: 0, role: "slider", "aria-orientation": "vertical", "aria-label": plain ? `Weight of: ${label}` : `Knot at ${number(points[k][0])} of: ${label}`, "aria-valuemin": -100, "aria-valuemax": 100 } : { "aria-hidden": "true" }) });
    if (free) {
      grip.addEventListener("pointerdown", (event) => { event.preventDefault(); grip.setPointerCapture(event.pointerId); grip.focus({ preventScroll: true }); dragged = k; before = points[k][1]; });
      grip.addEventListener("pointermove", (event) => { if (dragged === k) move(k, back(place(event))); });
      grip.addEventListener("pointerup", () => { if (dragged === k) { dragged = -1; kept(before !== points[k][1]); } });
      grip.addEventListener("pointercancel", () => { if (dragged === k) { points[k][1] = before; dragged = -1; draw(); } });
      grip.addEventListener("keydown", (event) => {
        const unit = Math.max((top - bottom) / 50, 0.01);
        const by = { ArrowUp: unit, ArrowRight: unit, ArrowDown: -unit, ArrowLeft: -unit, PageUp: 10 * unit, PageDown: -10 * unit }[event.key];
        if (by === undefined && event.key !== "Home") return;
        event.preventDefault();
        event.stopPropagation();
        move(k, event.key === "Home" ? 0 : points[k][1] + by);
        clearTimeout(waiting);
        waiting = setTimeout(() => kept(true), 500);
      });
    }
    grips.append(grip);
  });

  function place(event) {
    const box = picture.getBoundingClientRect();
    return (event.clientY - box.top) * HIGH / box.height;
  }

  function move(k, value) {
    const snapped = Math.abs(value) < (top - bottom) / 60 ? 0 : value;
    points[k][1] = Math.round(snapped * 1000) / 1000;
    if (points[k][1] > top || points[k][1] < bottom) { top = Math.max(top, points[k][1]); bottom = Math.min(bottom, points[k][1]); }
    draw();
  }

  function kept(moved) {
    draw();
    if (moved) changed(plain ? [points.at(-1)[1]] : points.map(([, y]) => y));
  }

  draw();
  return h("div", { class: "curve" }, picture, said);
}

export const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + number(Math.abs(value), 3);
