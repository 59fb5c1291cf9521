// One plan: its picture at the clock's step, its steps, and why each of them and not another.

import { h, number, plural, replace } from "./dom.js";
import { signed } from "./curve.js";
import { motionView, play, stateView } from "./state-view.js";

export function planSide(plan, { to }) {
  const last = plan.steps.length;
  const picture = h("div", { class: "plan-picture" });
  const why = h("div", { class: "why stack" });
  const doubt = plan.doubtful;
  const steps = h("ol", { class: "steps picked" }, h("li", {}, h("button", { type: "button", class: "quiet", onclick: () => to(0) }, "Start")),
    plan.steps.map((one, k) => h("li", {}, h("button", { type: "button", class: "quiet", onclick: () => to(k + 1) }, h("span", { class: "step-text" }, one.text), doubt === k + 1 ? h("span", { class: "chip" }, "look here") : null,
      plan.who === "meip" ? h("span", { class: "small number" }, `${Math.round(one.confidence * 100)} % sure`) : null))));
  const facts = [plural(last, "step"), `tau ${number(plan.tau)}`, plan.goal === true ? "goal reached" : plan.goal === false ? "goal not reached" : null, plan.verdict || null].filter(Boolean).join(" · ");
  const element = h("section", { class: `card plan-side by-${plan.who}`, "aria-label": `The plan of the ${plan.label}` },
    h("header", {}, h("h2", { class: plan.who === "meip" ? "meip" : "baseline" }, h("span", { class: "swatch", "aria-hidden": "true" }), plan.who === "meip" ? "The learned task" : `Baseline: ${plan.label}`), h("p", { class: "small" }, facts)),
    picture, plan.notes.map((note) => h("p", { class: "notice" }, note)), steps, why);

  function show(step, animated) {
    const at = Math.min(step, last);
    const view = plan.frames[at];
    const motion = at ? plan.steps[at - 1].motion : null;
    if (motion && view.scene) {
      const moving = motionView(view, motion);
      replace(picture, moving.element, h("p", { class: "state-words" }, view.words));
      if (animated && step === at) play(moving.at);
    } else replace(picture, stateView(view));
    steps.querySelectorAll("li").forEach((item, k) => { item.classList.toggle("latest", k === at); item.querySelector("button").setAttribute("aria-current", k === at ? "step" : "false"); });
    const current = steps.children[at];
    if (steps.scrollHeight > steps.clientHeight) steps.scrollTop = current.offsetTop - steps.offsetTop - steps.clientHeight / 2;
    element.classList.toggle("finished", step > last);
    replace(why, at === 0 ? h("p", { class: "soft" }, "The beginning.") : reasons(plan.steps[at - 1], plan.who), step > last ? h("p", { class: "soft" }, "It has stopped here.") : null);
  }

  return { element, show, plan };
}

function reasons(step, who) {
  const found = step.why;
  const mine = who === "meip";
  const head = h("h3", {}, mine ? "Why this and not another" : "What the learned task thinks of it");
  if (found.possible < 2) return [head, h("p", { class: "soft" }, "Nothing else was possible.")];
  if (found.worth === null) return [head, h("p", { class: "soft" }, "It is not among what the learned task considers.")];
  const better = found.others.filter((one) => one.less < -0.005).length;
  const summary = better ? `${mine ? "Looking further ahead it was taken, though by itself" : "By the task,"} ${plural(better, "other is", "others are")} worth more.` : `The best of ${found.possible}, by what was learned.`;
  return [head, h("p", { class: "small" }, summary), h("ul", { class: "rivals" }, found.others.map(rival))];
}

function rival(one) {
  return h("li", {}, h("div", { class: "spread" }, h("span", {}, one.action), h("span", { class: "small number" }, Math.abs(one.less) < 0.005 ? "as good" : one.less > 0 ? `less by ${number(one.less, 2)}` : `more by ${number(-one.less, 2)}`)),
    one.because.length ? h("ul", { class: "small because" }, one.because.map((reason) => h("li", { title: reason.text }, told(reason), " ", h("span", { class: "number" }, signed(reason.adds))))) : null);
}

function told(reason) {
  if (reason.kind === "never") return `${reason.adds > 0 ? "it" : "this"} would break a rule: never ${reason.english}`;
  if (reason.kind === "order") return `${reason.adds > 0 ? "it" : "this"} would break the order: ${reason.english}`;
  return reason.english;
}
