// Plan: a problem, the learned task and a baseline side by side on one clock; at every step why it and not another; and
// a step that is wrong becomes a demonstration of the right one.

import { button, h, plural, replace } from "./dom.js";
import { planSide } from "./plan-side.js";
import { problemDialog } from "./plan-problem.js";
import { correctDialog } from "./plan-correct.js";
import { stillness } from "./state-view.js";
import { chosenTask, noTasks, taskSelect } from "./task-select.js";

const PACE = 1100;  // milliseconds a step while playing

export async function mount(root, app) {
  const { tasks, name: task } = await chosenTask(app);
  if (!task) { noTasks(root); return null; }
  const [, givenProblem, givenBaseline, givenStep] = app.path;
  let choices = await app.api(`/api/plans/choices?task=${encodeURIComponent(task)}`);
  const fitting = () => choices.problems.filter((one) => !one.why_not);
  let problem = fitting().find((one) => one.id === givenProblem)?.id ?? fitting()[0]?.id ?? "";
  let baseline = givenBaseline === "alone" ? "" : givenBaseline in choices.baselines ? givenBaseline : Object.keys(choices.baselines)[0];
  let step = Math.max(0, Number(givenStep) || 0);
  let sides = [], last = 0, playing = 0, turn = 0, gone = false;

  const problems = h("select", { id: "problem", onchange: () => { problem = problems.value; step = 0; make(); } });
  const others = h("select", { id: "baseline", onchange: () => { baseline = others.value; make(); } },
    Object.entries(choices.baselines).map(([name, label]) => h("option", { value: name, selected: name === baseline }, label)), h("option", { value: "", selected: !baseline }, "nobody"));
  const stage = h("div", { class: "plan-sides" });
  const slider = h("input", { type: "range", min: 0, max: 0, value: 0, class: "scrub", "aria-label": "Step", oninput: () => go(Number(slider.value), false) });
  const caption = h("p", { class: "replay-caption", role: "status" });
  const first = button("Start", () => go(0, false), { key: "Home" });
  const back = button("Back", () => go(step - 1, false), { key: "ArrowLeft" });
  const player = button("Play", () => toggle(), { key: "Space", kind: "primary" });
  const on = button("On", () => go(step + 1), { key: "ArrowRight" });
  const wrong = button("This step is wrong", () => correct(0), { key: "w" });
  const early = button("It should not stop here", () => correct(1), { key: "g" });
  const link = button("Link to this step", copy, { key: "l", kind: "quiet" });

  replace(root,
    h("div", { class: "page-head" }, h("h1", {}, "What it would do"),
      h("div", { class: "row plan-choice" },
        taskSelect(tasks, task, (next) => app.go(`plan/${encodeURIComponent(next)}`)),
        h("label", {}, h("span", { class: "soft" }, "Problem"), problems),
        button("Change it …", () => problemDialog(app, problem, (id) => added(id))),
        h("label", {}, h("span", { class: "soft" }, "beside"), others))),
    h("div", { class: "transport card" }, first, back, player, on, slider, caption, wrong, early, link),
    stage);

  app.shortcuts([
    { keys: " ", label: "Play or pause", run: () => toggle() },
    { keys: "ArrowRight", label: "One step on", run: () => go(step + 1) },
    { keys: "ArrowLeft", label: "One step back", run: () => go(step - 1, false) },
    { keys: "Home", label: "To the start", run: () => go(0, false) },
    { keys: "End", label: "To the end", run: () => go(last, false) },
    { keys: "w", label: "This step is wrong", run: () => correct(0) },
    { keys: "g", label: "It should not stop here", run: () => correct(1), when: () => !early.hidden },
    { keys: "l", label: "Link to this step", run: copy },
  ]);

  function listed() {
    replace(problems, fitting().map((one) => h("option", { value: one.id, selected: one.id === problem }, one.title)),
      choices.problems.filter((one) => one.why_not).map((one) => h("option", { value: one.id, disabled: true, title: one.why_not }, `${one.title} (does not fit)`)));
  }

  async function added(id) {
    await app.refresh();
    choices = await app.api(`/api/plans/choices?task=${encodeURIComponent(task)}`);
    const found = choices.problems.find((one) => one.id === id);
    if (found?.why_not) app.status(found.why_not, "error");
    else { problem = id; step = 0; }
    listed();
    make();
  }

  async function make() {
    const mine = ++turn;
    toggle(false);
    if (!problem) { replace(stage, h("p", { class: "notice" }, "No problem of this project fits this task. Import one on the tab Record.")); return; }
    stage.setAttribute("aria-busy", "true");
    caption.textContent = "Planning …";
    try {
      const found = await app.api("/api/plans", { method: "POST", body: { task, problem, baseline } });
      if (mine !== turn || gone) return;
      sides = found.sides.map((side) => planSide(side, { to: (k) => go(k, false) }));
      last = Math.max(0, ...found.sides.map((side) => side.steps.length));
      slider.max = last;
      stage.classList.toggle("alone", sides.length === 1);
      replace(stage, sides.map((side) => side.element));
      go(Math.min(step, last), false);
    } catch (error) {
      if (mine !== turn || gone) return;
      sides = [];
      caption.textContent = "";
      replace(stage, h("p", { class: "notice error" }, error.message));
    }
    stage.removeAttribute("aria-busy");
  }

  function go(next, animated = true) {
    if (!sides.length) return;
    const before = step;
    step = Math.max(0, Math.min(last, next));
    for (const side of sides) side.show(step, animated && step === before + 1 && !stillness());
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    caption.textContent = `Step ${step} of ${last}`;
    first.disabled = back.disabled = step === 0;
    on.disabled = step === last;
    wrong.disabled = step === 0 || step > sides[0].plan.steps.length;
    early.hidden = step !== sides[0].plan.steps.length || !sides[0].plan.stop;
    history.replaceState(null, "", address());
  }

  const address = () => `#plan/${[task, problem, baseline || "alone", step].map(encodeURIComponent).join("/")}`;

  function toggle(wanted = !playing) {
    clearInterval(playing);
    playing = 0;
    if (wanted && sides.length) {
      if (step >= last) go(0, false);
      playing = setInterval(() => { if (step < last) go(step + 1); if (step >= last) toggle(false); }, PACE);
    }
    player.firstChild.textContent = playing ? "Pause" : "Play";
    player.setAttribute("aria-pressed", String(Boolean(playing)));
  }

  async function copy() {
    const text = `${location.origin}/${address()}`;
    try { await navigator.clipboard.writeText(text); app.status("The link is copied", "good"); } catch { app.status(text); }
  }

  function correct(beyond) {
    if (!sides.length || (wrong.disabled && !beyond)) return;
    toggle(false);
    const plan = sides[0].plan;
    correctDialog(app, { task, problem, plan, step: step + beyond }, (answer) => {
      if (answer.draft) app.go(`record/draft/${encodeURIComponent(answer.draft)}`);
      else { app.status(`${answer.file.replace(/\.json$/, "")} is a correction; learning runs again`, "good"); app.refresh(); app.go(`learn/${answer.job.id}`); }
    });
  }

  listed();
  await make();
  return () => { gone = true; clearInterval(playing); };
}
