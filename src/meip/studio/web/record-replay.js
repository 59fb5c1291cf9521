// A demonstration, step by step: played, scrubbed, renamed, deleted, exported; or the beginning of another one.

import { button, h, plural, replace } from "./dom.js";
import { bringBack } from "./record-shelf.js";
import { motionView, play, stateView } from "./state-view.js";

const PACE = 900;  // milliseconds a step while playing

export async function replay(stage, app, file, place, at, list) {
  const shown = await app.api(`/api/demonstrations/${encodeURIComponent(file)}/replay?place=${place}`);
  const last = shown.frames.length - 1;
  let step = Math.max(0, Math.min(last, at));
  let playing = 0;

  const picture = h("section", { class: "card picture", "aria-label": "The state at this step" });
  const caption = h("p", { class: "replay-caption", role: "status" });
  const slider = h("input", { type: "range", min: 0, max: last, value: step, class: "scrub", "aria-label": "Step", oninput: () => go(Number(slider.value), false) });
  const back = button("Back", () => go(step - 1), { key: "ArrowLeft" });
  const on = button("On", () => go(step + 1), { key: "ArrowRight" });
  const player = button("Play", () => toggle(), { key: "Space" });
  const steps = h("ol", { class: "steps picked" }, shown.frames.map((frame, k) => h("li", {}, h("button", { type: "button", class: "quiet", onclick: () => go(k) }, frame.step?.text ?? "Start"))));
  const name = shown.title + (shown.count > 1 ? `, number ${place + 1} of ${shown.count}` : "");
  const facts = [shown.world, plural(last, "step"), shown.by && `by ${shown.by}`].filter(Boolean).join(" · ");

  replace(stage,
    h("div", { class: "page-head" },
      h("div", {}, h("h2", { class: "big" }, name), h("p", { class: "small" }, facts, shown.note ? ` · ${shown.note}` : "")),
      h("div", { class: "row" },
        button("Record another", () => begin(0), { kind: "primary", title: "A new demonstration of the same problem" }),
        shown.count > 1 ? button("Split into files", split) : button("Rename …", rename),
        h("a", { class: "button", href: `/api/export/demonstrations.jsonl?name=${encodeURIComponent(file)}`, download: `${shown.title}.jsonl` }, "Export"),
        button("Delete", () => list.deleted(`/api/demonstrations/${encodeURIComponent(file)}`, shown.title, true), { kind: "danger" }))),
    shown.aside ? h("p", { class: "notice" }, `Set aside: ${shown.aside}. It is not learned from.`) : null,
    shown.count > 1 ? h("div", { class: "row" }, h("span", { class: "small" }, "In this file:"), Array.from({ length: shown.count }, (_, k) => h("a", { class: "button small-button", href: `#record/demo/${encodeURIComponent(file)}/${k}/0`, "aria-current": k === place ? "page" : null }, k + 1))) : null,
    h("div", { class: "record-grid" },
      h("div", { class: "stack" }, picture, h("div", { class: "transport card" }, back, player, on, slider, caption)),
      h("section", { class: "card", "aria-labelledby": "replay-steps" }, h("div", { class: "spread" }, h("h2", { id: "replay-steps" }, "Steps")), steps,
        last > 0 ? button("Go on from this step in a new draft", () => begin(step), { kind: "quiet wide" }) : null)));

  function go(next, animated = true) {
    const before = step;
    step = Math.max(0, Math.min(last, next));
    draw(animated && step === before + 1);
    history.replaceState(null, "", `#record/demo/${encodeURIComponent(file)}/${place}/${step}`);
  }

  function draw(animated) {
    const frame = shown.frames[step];
    slider.value = step;
    slider.setAttribute("aria-valuetext", `${step} of ${last}`);
    caption.textContent = `${step} of ${last}: ${frame.step?.text ?? "the beginning"}`;
    back.disabled = step === 0;
    on.disabled = step === last;
    steps.querySelectorAll("li").forEach((item, k) => { item.classList.toggle("latest", k === step); item.querySelector("button").setAttribute("aria-current", k === step ? "step" : "false"); });
    if (frame.motion && frame.state.scene) {
      const moving = motionView(frame.state, frame.motion);
      replace(picture, moving.element, h("p", { class: "state-words" }, frame.state.words));
      if (animated) play(moving.at);
    } else replace(picture, stateView(frame.state));
  }

  function toggle(wanted = !playing) {
    clearInterval(playing);
    playing = 0;
    if (wanted) {
      if (step === last) go(0);
      playing = setInterval(() => { if (step < last) go(step + 1); if (step >= last) toggle(false); }, PACE);
    }
    player.firstChild.textContent = playing ? "Pause" : "Play";
  }

  async function begin(count) {
    try {
      const draft = await app.api("/api/drafts", { method: "POST", body: { like: file, place, steps: count } });
      app.go(`record/draft/${encodeURIComponent(draft.name)}`);
    } catch (error) { app.fail(error); }
  }

  async function split() {
    try {
      const files = await app.api(`/api/demonstrations/${encodeURIComponent(file)}/split`, { method: "POST" });
      app.status(`Split into ${plural(files.length, "file")}.`, "good");
      app.go(`record/demo/${encodeURIComponent(files[0])}/0/0`);
    } catch (error) { app.fail(error); }
  }

  function rename() {
    const input = h("input", { value: shown.title, required: true, maxlength: "100" });
    const problem = h("p", { class: "notice error", hidden: true, role: "alert" });
    const form = h("form", { class: "finish" }, h("div", { class: "stack" }, h("label", { class: "field" }, "Name", input), problem),
      h("div", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), h("button", { class: "primary" }, "Rename")));
    const dialog = h("dialog", { "aria-labelledby": "rename-title" }, h("h2", { id: "rename-title" }, "Rename"), form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const { file: next } = await app.api(`/api/demonstrations/${encodeURIComponent(file)}/rename`, { method: "POST", body: { title: input.value.trim() } });
        dialog.close();
        await app.refresh();
        app.go(`record/demo/${encodeURIComponent(next)}/${place}/${step}`);
        app.status("Renamed.", "good");
      } catch (error) { problem.hidden = false; problem.textContent = error.message; }
    });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    input.select();
  }

  app.shortcuts([
    { keys: "ArrowRight", label: "Next step", run: () => go(step + 1) },
    { keys: "ArrowLeft", label: "Step before", run: () => go(step - 1) },
    { keys: "Home", label: "To the start", run: () => go(0) },
    { keys: "End", label: "To the end", run: () => go(last) },
    bringBack,
    { keys: " ", label: "Play or pause", run: () => toggle() },
  ]);
  draw(false);
  return () => toggle(false);
}
