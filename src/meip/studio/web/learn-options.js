// The options of learning as fields with plain explanations; those that few need are folded away.

import { h } from "./dom.js";

export function optionFields(options) {
  const fields = new Map();
  const plain = options.filter((one) => !one.advanced);
  const rest = options.filter((one) => one.advanced);
  const element = h("div", { class: "stack" }, plain.map(field), rest.length ? h("details", {}, h("summary", {}, "More options"), h("div", { class: "stack" }, rest.map(field))) : null);

  function field(one) {
    const id = `option-${one.name}`;
    const control = made(one, id);
    fields.set(one.name, { one, control });
    return h("div", { class: "option" }, h("label", { for: id }, one.label), control, h("p", { class: "small", id: `${id}-help` }, one.help));
  }

  function made(one, id) {
    const common = { id, "aria-describedby": `${id}-help` };
    if (one.kind === "choice") return h("select", common, one.choices.map(([value, label]) => h("option", { value, selected: value === one.default }, label)));
    if (one.kind === "lines") return h("textarea", { ...common, rows: 3, spellcheck: "false" });
    return h("input", { ...common, type: "number", min: one.least, max: one.most, step: one.step ?? 1, value: one.default ?? "" });
  }

  return {
    element,
    /** What differs from the defaults. */
    values() {
      const found = {};
      for (const [name, { one, control }] of fields) {
        const text = control.value.trim();
        let value = text;
        if (one.kind === "lines") value = text ? text.split("\n").map((line) => line.trim()).filter(Boolean) : null;
        else if (one.kind !== "choice") value = text === "" ? one.default : Number(text);
        if (value !== one.default) found[name] = value;
      }
      return found;
    },
  };
}
