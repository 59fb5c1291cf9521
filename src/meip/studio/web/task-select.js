// Which task: a select, or a way to the first one.

import { h, replace } from "./dom.js";

export function taskSelect(tasks, name, changed) {
  return h("label", { class: "task-select" }, h("span", { class: "soft" }, "Task"),
    h("select", { id: "task", onchange: (event) => changed(event.target.value) }, tasks.map((one) => h("option", { value: one, selected: one === name }, one))));
}

export function noTasks(root) {
  replace(root, h("section", { class: "empty" }, h("h1", {}, "Nothing is learned yet"), h("p", {}, "A task is learned from a few demonstrations."), h("a", { class: "button primary", href: "#learn" }, "Learn one")));
}
