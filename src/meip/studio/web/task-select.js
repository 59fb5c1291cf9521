// Which task: a select, or a way to the first one.

import { h, replace } from "./dom.js";

export function taskSelect(tasks, name, changed) {
  return h("label", { class: "task-select" }, h("span", { class: "soft" }, "Task"),
    h("select", { id: "task", onchange: (event) => changed(event.target.value) }, tasks.map((one) => h("option", { value: one, selected: one === name }, one))));
}

/** The tasks of the project as it is now, and the one that the address names; null where there are none. */
export async function chosenTask(app) {
  const tasks = (await app.refresh()).tasks.map((name) => name.replace(/\.json$/, ""));
  const wanted = app.path[0];
  if (wanted && !tasks.includes(wanted)) app.status(`There is no task ${wanted} in this project`, "error");
  return { tasks, name: tasks.includes(wanted) ? wanted : tasks[0] ?? null };
}

export function noTasks(root) {
  replace(root, h("section", { class: "empty" }, h("h1", {}, "Nothing is learned yet"), h("p", {}, "A task is learned from a few demonstrations."), h("a", { class: "button primary", href: "#learn" }, "Learn one")));
}
