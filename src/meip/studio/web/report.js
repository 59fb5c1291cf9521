// Report: one page that opens from disk, and the same as JSON.

import { button, h, number, plural, replace } from "./dom.js";
import { chosenTask, noTasks, taskSelect } from "./task-select.js";

export async function mount(root, app) {
  const { tasks, name: task } = await chosenTask(app);
  if (!task) { noTasks(root); return null; }
  const [choices, told, results] = await Promise.all([app.api(`/api/plans/choices?task=${encodeURIComponent(task)}`), app.api(`/api/understand/${encodeURIComponent(task)}`), app.api("/api/reports/results")]);
  const fitting = choices.problems.filter((one) => !one.why_not);
  const boxes = fitting.map((one, k) => h("input", { type: "checkbox", value: one.id, checked: k < 2 }));
  const measured = results.map((one) => h("input", { type: "checkbox", value: one.file, checked: !one.error, disabled: Boolean(one.error) }));
  const baseline = h("select", { id: "report-baseline" }, Object.entries(choices.baselines).map(([name, label]) => h("option", { value: name }, label)), h("option", { value: "" }, "nobody"));
  const kept = h("ul", { class: "report-list" });
  const write = button("Write the report", make, { kind: "primary", key: "Control+Enter" });
  const result = h("div", { class: "stack", role: "status" });

  replace(root,
    h("div", { class: "page-head" }, h("h1", {}, "A report to keep"), taskSelect(tasks, task, (next) => app.go(`report/${encodeURIComponent(next)}`))),
    h("div", { class: "columns" },
      h("section", { class: "card stack", "aria-labelledby": "what" },
        h("h2", { id: "what" }, "What is in it"),
        h("p", { class: "lead" }, told.sentence),
        h("p", { class: "small measure" }, "The explanation with its curves and its order; then plans, drawn; then how the task and a baseline carry over, with intervals; then what commands measured, with their tables and figures. It is the page that meip explain --html and meip reproduce --out write: one file, which loads nothing and runs nothing, and prints well; beside it the same as JSON."),
        fitting.length ? h("fieldset", { class: "report-problems" }, h("legend", {}, "Plans in these problems"), fitting.map((one, k) => h("label", { class: "pick" }, boxes[k], h("span", { class: "pick-name" }, one.title)))) : null,
        h("label", { class: "field" }, "Beside the plans of", baseline),
        h("fieldset", { class: "report-problems" }, h("legend", {}, "Results of this project"), results.length
          ? results.map((one, k) => h("label", { class: "pick" }, measured[k], h("span", { class: "pick-name" }, one.file), h("span", { class: "small" }, one.error || `${one.command}: ${plural(one.rows, "row")}`)))
          : h("p", { class: "small measure" }, "None yet. What meip evaluate --json or meip reproduce --out leaves in the folder results of this project can be put into the report.")),
        h("div", { class: "row" }, write), result),
      h("section", { class: "card stack", "aria-labelledby": "kept" }, h("h2", { id: "kept" }, "Reports of this project"), kept)));

  app.shortcuts([{ keys: "Control+Enter", label: "Write the report", run: make, inFields: true }]);

  async function listed() {
    const found = await app.api("/api/reports");
    replace(kept, found.length ? found.map((one) => h("li", {}, h("a", { href: `/api/reports/${encodeURIComponent(one.name)}`, download: one.name }, one.name), h("span", { class: "small" }, `${number(one.bytes / 1024, 2)} kB, ${new Date(one.at * 1000).toLocaleString()}`), h("code", { class: "small" }, one.path))) : h("li", { class: "soft" }, "None yet."));
  }

  async function make() {
    if (write.disabled) return;
    write.disabled = true;
    replace(result, h("p", { class: "soft" }, "Planning and writing …"), h("progress", { "aria-label": "Writing" }));
    try {
      const problems = boxes.filter((box) => box.checked).map((box) => box.value);
      const made = await app.api("/api/reports", { method: "POST", body: { task, problems, results: measured.filter((box) => box.checked).map((box) => box.value), baseline: problems.length ? baseline.value : "" } });
      replace(result, h("p", { class: "notice good" }, `Written: ${plural(made.plans, "plan")}${made.results ? ` and ${plural(made.results, "measurement")}` : ""} in it.`), h("div", { class: "row" },
        h("a", { class: "button primary", href: `/api/reports/${encodeURIComponent(made.html)}`, download: made.html }, "Save the page"),
        h("a", { class: "button", href: `/api/reports/${encodeURIComponent(made.json)}`, download: made.json }, "Save the JSON")));
      app.status("The report is written", "good");
      await listed();
    } catch (error) { replace(result); app.fail(error); }
    write.disabled = false;
  }

  await listed();
  history.replaceState(null, "", `#report/${encodeURIComponent(task)}`);
  return null;
}
