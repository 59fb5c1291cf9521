// Learn: what to learn from, with which options; then the job as it goes, which is the server's and outlives this page.

import { button, h, plural, replace } from "./dom.js";
import { optionFields } from "./learn-options.js";
import { jobView } from "./learn-job.js";

const POLL = 400;
const OVER = ["done", "failed", "cancelled", "interrupted"];

export async function mount(root, app) {
  const [given, jobs] = await Promise.all([app.api("/api/learn"), app.api("/api/jobs")]);
  const chosen = { world: "", files: new Set(), touched: false };
  const worlds = [...new Set(given.demonstrations.filter((d) => !d.error).map((d) => d.world))];
  const asked = Number(app.path[0]);
  let job = jobs.find((one) => one.id === asked) ?? jobs[0] ?? null;
  let after = 0;
  let timer = 0;
  let gone = false;

  const list = h("div", { class: "pick-list" });
  const name = h("input", { type: "text", id: "task-name", autocomplete: "off", spellcheck: "false", required: true, maxlength: 80 });
  const taken = h("p", { class: "small", id: "name-taken", role: "status" });
  const options = optionFields(given.options);
  const start = button("Learn", begin, { kind: "primary", key: "Control+Enter" });
  const count = h("p", { class: "small", id: "pick-count" });
  const stage = h("div", { class: "stack" });
  const earlier = h("ul", { class: "job-list" });
  const view = jobView({ cancel: () => act("cancel"), resume: () => act("resume"), open: (task) => app.go(`understand/${encodeURIComponent(task)}`), plan: (task) => app.go(`plan/${encodeURIComponent(task)}`) });

  const kinds = h("div", { class: "segments", role: "group", "aria-label": "Kind of demonstrations" }, worlds.map((world) =>
    h("button", { type: "button", dataset: { world }, onclick: () => choose(world) }, world || "other")));

  replace(root,
    h("div", { class: "learn-grid" },
      h("form", { class: "stack learn-form", onsubmit: (event) => { event.preventDefault(); begin(); } },
        h("section", { class: "card stack", "aria-labelledby": "from" },
          h("div", { class: "spread" }, h("h1", { id: "from" }, "Learn from"), worlds.length > 1 ? kinds : null),
          given.demonstrations.length ? [list, count] : h("p", { class: "notice" }, "There are no demonstrations yet. ", h("a", { href: "#record" }, "Record one"), ".")),
        h("section", { class: "card stack", "aria-labelledby": "how" },
          h("h2", { id: "how" }, "How"),
          h("label", { class: "field" }, "Name of the task", name), taken,
          options.element,
          h("div", { class: "row" }, start))),
      h("div", { class: "stack" }, stage,
        h("section", { class: "card", "aria-labelledby": "jobs" }, h("h2", { id: "jobs" }, "Earlier"), earlier))));

  app.shortcuts([{ keys: "Control+Enter", label: "Learn", run: begin, inFields: true }, { keys: "c", label: "Cancel the job", run: () => act("cancel"), when: () => job && !OVER.includes(job.status) }]);

  /** Demonstrations of a world: all that are not set aside; or those of a job, under its name. */
  function choose(world, spec = null) {
    chosen.world = world;
    kinds.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.world === world)));
    const mine = given.demonstrations.filter((d) => !d.error && d.world === world);
    chosen.files = new Set(mine.filter((d) => !d.aside && (spec?.demonstrations.includes(d.file) ?? true)).map((d) => d.file));
    if (!chosen.touched) name.value = spec?.task.replace(/\.json$/, "") ?? (world || "task");
    told();
    replace(list,
      h("label", { class: "pick all" }, h("input", { type: "checkbox", id: "pick-all", onchange: (event) => every(event.target.checked) }), "All"),
      h("ul", { "aria-describedby": "pick-count" }, mine.map(row)),
      given.demonstrations.filter((d) => d.error).map((d) => h("p", { class: "small bad" }, d.error)));
    counted();
  }

  function row(one) {
    const box = h("input", { type: "checkbox", value: one.file, checked: chosen.files.has(one.file), onchange: () => { box.checked ? chosen.files.add(one.file) : chosen.files.delete(one.file); counted(); } });
    return h("li", {}, h("label", { class: "pick" }, box, h("span", { class: "pick-name" }, one.label),
      h("span", { class: "small" }, one.count > 1 ? `${one.count} of ${plural(one.steps, "step")} in all` : one.correction ? `correction of step ${one.steps}` : plural(one.steps, "step"))),
      one.aside ? h("span", { class: "aside small" }, `set aside: ${one.aside} `, button("Take it back in", () => back(one), { kind: "quiet small-button" })) : null);
  }

  async function back(one) {
    try {
      await app.api(`/api/demonstrations/${encodeURIComponent(one.file)}/aside`, { method: "POST", body: { why: "" } });
      one.aside = "";
      const kept = new Set([...chosen.files, one.file]);
      choose(chosen.world);
      chosen.files = kept;
      list.querySelectorAll("li input").forEach((box) => { box.checked = kept.has(box.value); });
      counted();
    } catch (error) { app.fail(error); }
  }

  function every(on) {
    list.querySelectorAll("li input").forEach((box) => { box.checked = on; on ? chosen.files.add(box.value) : chosen.files.delete(box.value); });
    counted();
  }

  function counted() {
    const boxes = [...list.querySelectorAll("li input")];
    const all = list.querySelector("#pick-all");
    if (all) { all.checked = chosen.files.size === boxes.length; all.indeterminate = chosen.files.size > 0 && chosen.files.size < boxes.length; }
    count.textContent = `${chosen.files.size} of ${plural(boxes.length, "demonstration")} chosen`;
    start.disabled = chosen.files.size === 0;
  }

  name.addEventListener("input", () => { chosen.touched = true; told(); });
  const told = () => { taken.textContent = given.tasks.includes(name.value.trim()) ? "There is a task of this name: it is replaced, and kept beside it if it was changed by hand." : ""; };

  async function begin() {
    if (!chosen.files.size || start.disabled) return;
    start.disabled = true;
    try {
      const files = given.demonstrations.map((d) => d.file).filter((file) => chosen.files.has(file));
      const made = await app.api("/api/jobs", { method: "POST", body: { task: name.value.trim(), demonstrations: files, options: options.values() } });
      app.status("Learning has begun");
      jobs.unshift(made);
      pick(made);
      if (stage.getBoundingClientRect().top > innerHeight * 0.6) stage.scrollIntoView({ block: "start" });
    } catch (error) { app.fail(error); }
    start.disabled = chosen.files.size === 0;
  }

  async function act(what) {
    if (!job) return;
    try {
      Object.assign(job, await app.api(`/api/jobs/${job.id}/${what}`, { method: "POST" }));
      app.status(what === "cancel" ? "It is being cancelled" : "It goes on");
      poll();
    } catch (error) { app.fail(error); }
  }

  function pick(next) {
    job = next;
    after = 0;
    view.begin(job);
    history.replaceState(null, "", `#learn/${job.id}`);
    replace(stage, view.element);
    listed();
    poll();
  }

  function listed() {
    replace(earlier, jobs.length ? jobs.map((one) => h("li", { class: one === job ? "current" : "" },
      h("button", { type: "button", class: "quiet", "aria-current": one === job ? "true" : null, onclick: () => pick(one) },
        h("span", { class: `dot ${one.status}` }), h("span", {}, one.spec.task.replace(/\.json$/, "")),
        h("span", { class: "small" }, `${one.status}, ${plural(one.spec.demonstrations.length, "file")}, ${new Date(one.created * 1000).toLocaleString()}`)))) : h("li", { class: "soft" }, "Nothing yet."));
  }

  async function poll() {
    clearTimeout(timer);
    if (!job || gone) return;
    const mine = job;
    try {
      const answer = await app.api(`/api/jobs/${mine.id}?after=${after}`);
      if (mine !== job || gone) return;
      const was = mine.status;
      Object.assign(mine, answer.job);
      if (answer.log.length) after = answer.log.at(-1).n;
      view.update(mine, answer.log);
      if (was !== mine.status) { listed(); if (OVER.includes(mine.status)) over(mine); }
      if (!OVER.includes(mine.status)) timer = setTimeout(poll, POLL);
    } catch (error) {
      if (error.status === 0) { view.away(); timer = setTimeout(poll, 4 * POLL); } else app.fail(error);
    }
  }

  function over(one) {
    app.refresh();
    if (one.status === "done") app.status(`${one.spec.task.replace(/\.json$/, "")} is learned: it ${one.result.foreseen || "is kept"}`, "good");
    else app.status(one.message || one.status, one.status === "cancelled" ? "" : "error");
  }

  if (worlds.length) choose(given.demonstrations.find((d) => d.file === job?.spec.demonstrations[0] && !d.error)?.world ?? worlds[0], job?.id === asked ? job.spec : null);
  listed();
  if (job) pick(job);
  else replace(stage, h("section", { class: "card stack" }, h("h2", {}, "What will be found"), h("p", { class: "soft measure" }, "Every step shown is compared with what else could have been done there. A few statements are looked for that foresee the choices: what is wanted, what comes first, what is never done.")));

  return () => { gone = true; clearTimeout(timer); };
}
