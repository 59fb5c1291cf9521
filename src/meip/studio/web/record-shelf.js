// The list on the left: drafts and demonstrations; import and export; deleting, which can be undone.

import { button, h, plural, replace } from "./dom.js";

const ASIDE_WORDS = "set aside";

let lastDeleted = null;  // what Ctrl+Z brings back

/** The shortcut of the pages on which nothing else can be undone. */
export const bringBack = { keys: "Control+Z", label: "Bring back what was deleted last", when: () => Boolean(lastDeleted), run: () => lastDeleted?.() };

export function shelf(side, app, at) {
  const drafts = h("ul", { class: "shelf-list" });
  const shown = h("ul", { class: "shelf-list" });
  const counted = h("span", { class: "small" });
  const drafted = h("section", { class: "stack", "aria-labelledby": "drafts-title" }, h("h2", { id: "drafts-title" }, "Drafts"), drafts);
  const file = h("input", { type: "file", multiple: true, class: "visually-hidden", tabindex: "-1", "aria-label": "Files to import", onchange: () => importFiles() });
  replace(side,
    h("a", { class: ["button", "new", !at.kind && "current"], href: "#record", "aria-current": at.kind ? null : "page" }, "New demonstration"),
    drafted,
    h("section", { class: "stack shown", "aria-labelledby": "shown-title" },
      h("div", { class: "spread" }, h("h2", { id: "shown-title" }, "Demonstrations"), counted), shown,
      h("div", { class: "row" }, button("Import …", () => file.click(), { kind: "small-button" }), h("a", { class: "button small-button", href: "/api/export/demonstrations.jsonl", download: "demonstrations.jsonl" }, "Export all"), file)));

  async function refresh() {
    const [waiting, made] = await Promise.all([app.api("/api/drafts"), app.api("/api/demonstrations")]);
    drafted.hidden = !waiting.length;
    replace(drafts, waiting.map((one) => row({
      title: one.title, href: `#record/draft/${encodeURIComponent(one.name)}`, current: at.kind === "draft" && at.name === one.name,
      detail: one.error ?? `${one.world} · ${plural(one.steps, "step")} · saved`, error: Boolean(one.error),
      actions: [remove(`/api/drafts/${encodeURIComponent(one.name)}`, one.title, at.kind === "draft" && at.name === one.name)],
    })));
    counted.textContent = made.length;
    replace(shown, made.length ? made.map((one) => row({
      title: one.title, href: `#record/demo/${encodeURIComponent(one.file)}/0/0`, current: at.kind === "demo" && at.name === one.file,
      detail: one.error ?? [one.world, one.count > 1 ? plural(one.count, "demonstration") : plural(one.steps, "step"), one.correction && "correction", one.aside && ASIDE_WORDS].filter(Boolean).join(" · "), error: Boolean(one.error),
      actions: [remove(`/api/demonstrations/${encodeURIComponent(one.file)}`, one.title, at.kind === "demo" && at.name === one.file)],
    })) : h("li", { class: "soft" }, "None yet."));
    for (const one of [drafts, shown]) {  // the list scrolls, never the page
      const row = one.querySelector(".current");
      if (row && (row.offsetTop < one.scrollTop || row.offsetTop + row.offsetHeight > one.scrollTop + one.clientHeight)) one.scrollTop = row.offsetTop - one.clientHeight / 2;
    }
  }

  function row({ title, href, detail, current, error, actions }) {
    return h("li", { class: ["shelf-row", current && "current"] },
      h("a", { href, "aria-current": current ? "page" : null }, h("span", { class: "shelf-title" }, title), h("span", { class: ["small", error && "bad"] }, detail)),
      actions);
  }

  function remove(path, title, open) {
    return h("button", { type: "button", class: "quiet icon delete", "aria-label": `Delete ${title}`, title: "Delete", onclick: () => deleted(path, title, open) }, "×");
  }

  /** Delete, with a way back. */
  async function deleted(path, title, open) {
    try {
      const { undo } = await app.api(path, { method: "DELETE" });
      await app.refresh();
      if (open) app.go("record"); else await refresh();
      lastDeleted = async () => {
        lastDeleted = null;
        try {
          const back = await app.api(`/api/trash/${undo}/restore`, { method: "POST" });
          await app.refresh();
          if (open) app.go(`record/${back.kind === "drafts" ? "draft" : "demo"}/${encodeURIComponent(back.file)}`);
          else if (side.isConnected) await refresh();
          else app.reload();
          app.status(`“${back.file.replace(/\.\w+$/, "")}” is back.`, "good");
        } catch (error) { app.fail(error); }
      };
      app.status(`Deleted “${title}”.`, "", { label: "Undo", run: lastDeleted });
    } catch (error) { app.fail(error); }
  }

  async function importFiles() {
    const files = await Promise.all([...file.files].map(async (one) => ({ name: one.name, text: await one.text() })));
    file.value = "";
    if (!files.length) return;
    try {
      const { demonstrations, problems } = await app.api("/api/import", { method: "POST", body: { files } });
      await app.refresh();
      await refresh();
      const told = [demonstrations.length && plural(demonstrations.length, "demonstration"), problems.length && plural(problems.length, "problem")].filter(Boolean).join(" and ");
      app.status(`Imported ${told}.`, "good");
      if (demonstrations.length) app.go(`record/demo/${encodeURIComponent(demonstrations[0])}/0/0`);
      else if (at.kind) app.go("record"); else app.reload();
    } catch (error) { app.fail(error); }
  }

  return { refresh, deleted, pickFiles: () => file.click() };
}
