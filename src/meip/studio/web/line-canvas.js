// Drawing a line over a scene, by mouse or by keyboard. What the line would do is asked of the world at every move.
//
//   const canvas = lineCanvas({scene, preview, onstroke, oncommit});
//   canvas.element, canvas.put(line), canvas.clear(), canvas.guide(k), canvas.xray(on), canvas.snapping(on), canvas.line

import { svg } from "./dom.js";
import { pointsOf, sceneSvg } from "./state-view.js";
import { snapper } from "./snapping.js";

const FINE = 0.1, COARSE = 10;

export function lineCanvas({ scene, preview, onstroke, oncommit, xray = false, label = "" }) {
  const { element, over } = sceneSvg(scene, { xray, label });
  const snap = snapper(scene);
  const guides = svg("g", { class: "guides" });
  const effect = svg("g", { class: "effect", "aria-hidden": "true" });
  const drawn = svg("line", { class: "drawn" });
  const target = svg("circle", { class: "snap-target" });
  const handles = [0, 1].map((end) => handle(end));
  over.append(guides, effect, drawn, target, ...handles);
  element.setAttribute("role", "application");
  element.setAttribute("aria-roledescription", "drawing surface");
  element.setAttribute("tabindex", "-1");  // where the focus stays when a line was folded along
  element.classList.add("line-canvas");

  let line = null;  // [[x, y], [x, y]]
  let dragged = null;  // the end that the mouse holds
  let snaps = true;
  let asked = 0, answered = 0, waiting = null;

  function unit() {  // scene units per pixel
    const box = element.getBoundingClientRect();
    const [x0, y0, x1, y1] = scene.box;
    return Math.max((x1 - x0) / Math.max(1, box.width), (y1 - y0) / Math.max(1, box.height));
  }

  function place(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(element.getScreenCTM().inverse());
    return [at.x, -at.y];
  }

  // --- what is shown ---

  function redraw(why = "") {
    const shown = line !== null;
    drawn.classList.toggle("hidden", !shown);
    handles.forEach((one) => one.classList.toggle("hidden", !shown));
    target.classList.add("hidden");
    if (!shown) { effect.replaceChildren(); return; }
    const [[x1, y1], [x2, y2]] = line;
    for (const [name, value] of Object.entries({ x1, y1: -y1, x2, y2: -y2 })) drawn.setAttribute(name, value);
    const size = 7 * unit();
    handles.forEach((one, end) => {
      const [x, y] = line[end];
      one.setAttribute("cx", x); one.setAttribute("cy", -y); one.setAttribute("r", size);
      one.setAttribute("aria-valuenow", x.toFixed(1));
      one.setAttribute("aria-valuetext", `x ${x.toFixed(1)}, y ${y.toFixed(1)}${why ? `, ${why}` : ""}`);
    });
    if (why && dragged !== null) {
      target.setAttribute("cx", line[dragged][0]); target.setAttribute("cy", -line[dragged][1]); target.setAttribute("r", 2 * size);
      target.classList.remove("hidden");
    }
  }

  function showEffect(stroke) {
    element.classList.toggle("illegal", !stroke.legal);
    effect.replaceChildren(
      ...stroke.lands.map((outline) => svg("polygon", { class: "lands", points: pointsOf(outline) })),
      ...stroke.moves.map((outline) => svg("polygon", { class: "moves", points: pointsOf(outline) })));
    if (stroke.crease) {
      const [[x1, y1], [x2, y2]] = stroke.crease;
      effect.append(svg("line", { class: "crease-line", x1, y1: -y1, x2, y2: -y2 }), arrow(stroke));
    }
  }

  function arrow(stroke) {
    const middle = (outlines) => {
      const all = outlines.flat();
      return [0, 1].map((k) => all.reduce((sum, point) => sum + point[k], 0) / all.length);
    };
    const [[x1, y1], [x2, y2]] = [middle(stroke.moves), middle(stroke.lands)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    const size = Math.min(9 * unit(), length / 2);
    if (!(length > 0)) return svg("g");
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const tip = [[x2, y2], [x2 - size * (ux + 0.5 * uy), y2 - size * (uy - 0.5 * ux)], [x2 - size * (ux - 0.5 * uy), y2 - size * (uy + 0.5 * ux)]];
    return svg("g", { class: "way" }, svg("line", { x1, y1: -y1, x2: x2 - size * ux, y2: -(y2 - size * uy) }), svg("polygon", { points: pointsOf(tip) }));
  }

  // --- asking the world: one question at a time, the latest line next ---

  async function ask(why = "") {
    waiting = { line, why };
    if (asked !== answered) return;
    asked += 1;
    try {
      while (waiting) {
        const now = waiting;
        waiting = null;
        const stroke = await preview(now.line);
        if (line !== null && now.line === line) { showEffect(stroke); onstroke(stroke, now.why); }
      }
    } finally {
      answered = asked;
    }
  }

  function put(next, why = "") {
    line = next;
    redraw(why);
    if (line) ask(why);
    else { element.classList.remove("illegal"); onstroke(null, ""); }
  }

  // --- the mouse ---

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    const at = place(event);
    const held = line?.findIndex(([x, y]) => Math.hypot(x - at[0], y - at[1]) < 12 * unit()) ?? -1;
    if (held >= 0) {
      dragged = held;
      handles[held].focus({ preventScroll: true });
    } else {
      const start = snaps && !event.altKey ? snap.point(at, unit()) : { point: at, why: "" };
      dragged = 1;
      line = [start.point, start.point];
      redraw(start.why);
      handles[1].focus({ preventScroll: true });  // or Enter would press the button that was used before
    }
  });
  element.addEventListener("pointermove", (event) => {
    if (dragged === null) { hover(event); return; }
    const at = place(event);
    const found = snaps && !event.altKey ? snap.line(line[1 - dragged], at, unit()) : { fixed: line[1 - dragged], moved: at, why: "" };
    const next = dragged === 1 ? [found.fixed, found.moved] : [found.moved, found.fixed];
    put(next, found.why);
  });
  const release = () => {
    if (dragged === null) return;
    dragged = null;
    if (line && Math.hypot(line[0][0] - line[1][0], line[0][1] - line[1][1]) < 6 * unit()) put(null);
    else redraw();
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);

  function hover(event) {
    const found = snaps && !event.altKey ? snap.point(place(event), unit()) : { why: "" };
    target.classList.toggle("hidden", !found.why);
    if (found.why) {
      target.setAttribute("cx", found.point[0]); target.setAttribute("cy", -found.point[1]); target.setAttribute("r", 9 * unit());
    }
  }

  // --- the keyboard ---

  function handle(end) {
    const [x0, , x1] = scene.box;
    const one = svg("circle", { class: "handle hidden", tabindex: "0", role: "slider", "aria-label": end ? "Second end of the line" : "First end of the line", "aria-valuemin": Math.floor(x0), "aria-valuemax": Math.ceil(x1) });
    one.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (way && line) {
        event.preventDefault();
        event.stopPropagation();
        const step = pace() * (event.shiftKey ? COARSE : event.ctrlKey ? FINE : 1);
        const next = line.map((point) => [...point]);
        next[end] = [next[end][0] + way[0] * step, next[end][1] + way[1] * step];
        put(next);
      } else if (event.key === "Enter") {
        event.preventDefault();
        event.stopPropagation();
        oncommit();
      }
    });
    return one;
  }

  function pace() {  // one unit in things that are tens to hundreds of units large, else a hundredth
    const size = Math.max(scene.box[2] - scene.box[0], scene.box[3] - scene.box[1]);
    return size > 20 && size < 500 ? 1 : size / 100;
  }

  new ResizeObserver(() => redraw()).observe(element);

  return {
    element,
    put: (next, why) => put(next, why),
    clear: () => put(null),
    get line() { return line; },
    get busy() { return asked !== answered; },
    showEffect,
    focus: (end = 0) => handles[end].focus(),
    /** Draw the line of guide k. */
    guide: (k) => { const one = scene.guides[k]; if (one) put(one.line.map((point) => [...point]), one.name); },
    snapping: (on) => { snaps = on; },
    showGuide: (k) => {
      const one = scene.guides[k];
      guides.replaceChildren(...(one ? [svg("line", { class: "guide", x1: one.line[0][0], y1: -one.line[0][1], x2: one.line[1][0], y2: -one.line[1][1] })] : []));
    },
  };
}
