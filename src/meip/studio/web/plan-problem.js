// A new problem: another one with other parameters, or a file.

import { h } from "./dom.js";

export async function problemDialog(app, id, added) {
  let given;
  try { given = await app.api(`/api/plans/problem?id=${encodeURIComponent(id)}`); } catch (error) { app.fail(error); return; }
  const fields = new Map();
  const entries = Object.entries(given.document).filter(([key]) => !["format", "world"].includes(key));
  const short = entries.filter(([key]) => !given.long.includes(key));
  const name = h("input", { type: "text", required: true, maxlength: 80, value: `${id.replace(/^\w+:/, "").replace(/\.\w+$/, "")}, changed` });
  const file = h("input", { type: "file", accept: ".pddl,.json" });
  const domain = h("input", { type: "file", accept: ".pddl" });
  const error = h("p", { class: "notice error", role: "alert", hidden: true });
  const changed = h("form", { class: "stack form", onsubmit: send },
    h("label", { class: "field" }, "Name of the new problem", name),
    short.length ? short.map(([key, value]) => field(key, value)) : h("p", { class: "soft" }, "This problem has no parameters that can be changed here."),
    given.long.length ? h("p", { class: "small" }, `Kept as it is: ${given.long.join(", ")}.`) : null,
    h("div", { class: "row end" }, h("button", { class: "primary", disabled: !short.length }, "Make this problem")));
  const upload = h("form", { class: "stack form", onsubmit: sendFile },
    h("label", { class: "field" }, "A problem: .pddl, or a document (.json)", file), h("label", { class: "field" }, "Its domain, for PDDL", domain),
    h("div", { class: "row end" }, h("button", {}, "Add the file")));
  const dialog = h("dialog", { class: "problem-dialog", "aria-labelledby": "problem-title" },
    h("h2", { id: "problem-title" }, "Another problem"), error, changed, h("hr", {}), upload,
    h("form", { method: "dialog" }, h("button", {}, "Close")));

  function field(key, value) {
    const kind = typeof value === "number" ? "number" : typeof value === "string" && value.length < 60 ? "text" : "json";
    const control = kind === "json" ? h("textarea", { rows: Math.min(6, 1 + JSON.stringify(value).length / 40 | 0), spellcheck: "false" }) : h("input", { type: kind, step: "any" });
    control.value = kind === "json" ? JSON.stringify(value) : value;
    fields.set(key, { kind, control });
    return h("label", { class: "field" }, key, control);
  }

  const fail = (message) => { error.hidden = false; error.textContent = message; };

  async function send(event) {
    event.preventDefault();
    const document_ = { ...given.document };
    try {
      for (const [key, { kind, control }] of fields) document_[key] = kind === "number" ? Number(control.value) : kind === "json" ? JSON.parse(control.value) : control.value;
    } catch (problem) { fail(`This is not JSON: ${problem.message}`); return; }
    await post({ name: name.value.trim(), document: document_ });
  }

  async function sendFile(event) {
    event.preventDefault();
    const chosen = file.files[0];
    if (!chosen) { fail("Choose a file first."); return; }
    const text = await chosen.text();
    if (chosen.name.endsWith(".json")) {
      try { await post({ name: chosen.name.replace(/\.json$/, ""), document: JSON.parse(text) }); } catch (problem) { fail(`This is not JSON: ${problem.message}`); }
    } else await post({ name: chosen.name, text, domain: domain.files[0] ? await domain.files[0].text() : null });
  }

  async function post(body) {
    try {
      const answer = await app.api("/api/plans/problems", { method: "POST", body });
      dialog.close();
      added(answer.id);
    } catch (problem) { fail(problem.message); }
  }

  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
