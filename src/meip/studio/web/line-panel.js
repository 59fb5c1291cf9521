// A line over a scene with its numbers: what it would move, where that lands, or why it may not.

//
//   linePanel({state, ask, app, fold})   {panel, picture, shortcuts}; ask({line} or {action}) what it would do; fold(stroke)

import { button, h, replace } from "./dom.js";
import { lineCanvas } from "./line-canvas.js";

const liked = { xray: false, snapping: true };  // from step to step

export function linePanel({ state, ask, app, fold }) {
  const { scene } = state;
  const verdict = h("p", { class: "verdict", role: "status", "aria-live": "polite", id: "verdict" }, "Draw a line across, from one side to the other.");
  const commitButton = button("Fold", () => commit(), { kind: "primary", key: "Enter", disabled: true, aria: { "aria-describedby": "verdict" } });
  const holder = h("div", { class: "scene" });
  const xrayButton = button("X-ray", () => toggleXray(), { key: "X", aria: { "aria-pressed": String(liked.xray) } });
  const snapButton = button("Snap", () => toggleSnapping(), { key: "S", title: "To corners, seams, 15 degrees and guides; Alt while drawing: not", aria: { "aria-pressed": String(liked.snapping) } });
  const inputs = scene.quantities.map((one) => h("input", { type: "number", step: "any", inputmode: "decimal", "aria-label": `${one.name}${one.unit ? ` in ${one.unit}` : ""}`, oninput: () => byNumbers() }));
  let stroke = null;
  let canvas = null;
  let pending = null;  // a question that has no answer yet

  async function preview(line) {
    return ask({ line: [...line[0], ...line[1]] });
  }

  function told(found, why, typed = false) {
    stroke = found;
    commitButton.disabled = !found?.legal;
    verdict.classList.toggle("bad", Boolean(found && !found.legal));
    verdict.textContent = !found ? "Draw a line across, from one side to the other."
      : found.legal ? `${capital(found.note)}${why ? ` · ${why}` : ""}.` : found.problem;
    if (typed) return;
    inputs.forEach((input, k) => {
      const { factor } = scene.quantities[k];
      input.value = found?.legal ? tidy(found.action[k] * factor) : "";
    });
  }

  async function byNumbers() {
    if (inputs.some((input) => input.value === "" || !Number.isFinite(Number(input.value)))) return;
    const action = inputs.map((input, k) => Number(input.value) / scene.quantities[k].factor);
    const mine = (pending = ask({ action }));
    try {
      const found = await mine;
      if (pending !== mine) return;
      canvas.put(found.line, "");
      told(found, "", true);
      canvas.showEffect(found);
    } catch (error) {
      if (pending !== mine) return;
      verdict.classList.add("bad");
      verdict.textContent = error.message;
      commitButton.disabled = true;
      stroke = null;
    }
  }

  async function commit() {
    try { await pending; } catch { return; }
    while (canvas.busy) await new Promise((done) => setTimeout(done, 5));
    if (stroke?.legal) await fold(stroke);
    else app.status(stroke?.problem ?? "Draw a line first.", "error");
  }

  function make(line = null) {
    canvas = lineCanvas({ scene, preview: async (at) => { try { return await preview(at); } catch (error) { app.fail(error); throw error; } }, onstroke: told, oncommit: commit, xray: liked.xray, label: `${state.words}. Draw a line to fold along.` });
    canvas.snapping(liked.snapping);
    replace(holder, canvas.element);
    if (line) canvas.put(line);
  }

  function toggleXray() {
    liked.xray = !liked.xray;
    xrayButton.setAttribute("aria-pressed", String(liked.xray));
    make(canvas.line);
    app.status(liked.xray ? "Hidden layers are shown" : "Hidden layers are hidden");
  }

  function toggleSnapping() {
    liked.snapping = !liked.snapping;
    snapButton.setAttribute("aria-pressed", String(liked.snapping));
    canvas.snapping(liked.snapping);
    app.status(liked.snapping ? "Snapping is on" : "Snapping is off");
  }

  function guide(which) {
    const k = which === "mirror" ? scene.guides.findIndex((one) => one.name.includes("mirror")) : which;
    if (k < 0 || k >= scene.guides.length) { app.status("There is no fold to mirror yet."); return; }
    canvas.guide(k);
    canvas.focus(0);
  }

  function byKeyboard() {
    if (!canvas.line) canvas.guide(scene.guides.findIndex((one) => !one.name.includes("mirror")));
    canvas.focus(0);
  }

  make();
  const form = h("form", { class: "numbers", onsubmit: (event) => { event.preventDefault(); commit(); } },
    scene.quantities.map((one, k) => h("label", { class: "field" }, h("span", {}, one.name, one.unit ? h("span", { class: "soft" }, ` ${one.unit}`) : null), inputs[k])),
    h("button", { class: "visually-hidden", tabindex: "-1" }, "Fold along these numbers"));
  const panel = h("section", { class: "stack lines", "aria-labelledby": "line-title" },
    h("div", { class: "spread" }, h("h2", { id: "line-title" }, "Fold along a line"), commitButton),
    verdict,
    h("div", { class: "row" }, button("By keyboard", byKeyboard, { key: "L", title: "A line whose ends the arrow keys move: Shift for ten steps, Ctrl for a tenth" }), xrayButton, snapButton, button("Clear", () => canvas.clear(), { key: "Escape" })),
    h("fieldset", {}, h("legend", {}, "The line as numbers"), form),
    h("fieldset", {}, h("legend", {}, "Lines that are often wanted"), h("div", { class: "row" }, scene.guides.map((one, k) =>
      h("button", { type: "button", onclick: () => guide(k), onmouseenter: () => canvas.showGuide(k), onmouseleave: () => canvas.showGuide(-1), onfocus: () => canvas.showGuide(k), onblur: () => canvas.showGuide(-1) }, capital(one.name), one.name.includes("mirror") ? h("kbd", { "aria-hidden": "true" }, "M") : null)))));
  const picture = h("div", { class: "state" }, holder, h("p", { class: "state-words" }, state.words));
  const shortcuts = [
    { keys: "Enter", label: "Fold along the line", run: commit },
    { keys: "l", label: "A line by keyboard: arrows move its ends", run: byKeyboard },
    { keys: "m", label: "The last fold, mirrored", run: () => guide("mirror") },
    { keys: "x", label: "X-ray: hidden layers", run: toggleXray },
    { keys: "s", label: "Snapping on or off", run: toggleSnapping },
    { keys: "Escape", label: "Clear the line", when: () => canvas.line !== null, run: () => canvas.clear() },
  ];
  return { panel, picture, shortcuts };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const tidy = (value) => String(Math.round(value * 100) / 100);
