// Small helpers: elements without a template language. No style attributes: the page's policy forbids them.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") node.addEventListener(name.slice(2).toLowerCase(), value);
    else if (name === "class") node.setAttribute("class", Array.isArray(value) ? value.filter(Boolean).join(" ") : value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name in node && ["value", "checked", "disabled", "selected", "indeterminate"].includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false).map((c) => (c instanceof Node ? c : String(c))));
  return node;
}

/** h("button", {class: "primary", onclick: f}, "Save") */
export function h(tag, attrs, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

/** The same for SVG elements: svg("path", {d}) */
export function svg(tag, attrs, ...children) {
  return fill(document.createElementNS(SVG, tag), attrs, children);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

/** A button with its shortcut on it. */
export function button(label, onclick, { kind = "", key = "", title = "", disabled = false, aria = {} } = {}) {
  return h("button", { type: "button", class: kind, onclick, disabled, title: title || null, "aria-keyshortcuts": key || null, ...aria },
    label, key ? h("kbd", { "aria-hidden": "true" }, keyText(key)) : null);
}

const KEYS = { Control: "Ctrl", ArrowLeft: "←", ArrowRight: "→", " ": "Space", Escape: "Esc" };

/** A key as it is written on buttons: "Control+Z" as "Ctrl+Z", "l" as "L". */
export const keyText = (keys) => keys.split("+").map((key) => KEYS[key] ?? (key.length === 1 ? key.toUpperCase() : key)).join("+");

const KEPT = new Set(["svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title", "desc",
  "defs", "clippath", "lineargradient", "radialgradient", "stop", "marker", "pattern", "use", "mask", "symbol",
  "div", "span", "p", "b", "strong", "i", "em", "small", "code", "br", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption",
  "thead", "tbody", "tfoot", "tr", "th", "td", "ins", "del", "h3", "h4", "sub", "sup", "details", "summary"]);

/** Markup that a world drew (SVG or a table), without anything that could run or load. */
export function drawn(given, kind = "svg") {
  // the parser would report what the policy forbids, though nothing of it is kept: it does not get to see it
  const markup = given.replace(/\s(style|on\w+)\s*=/gi, (_, name) => ` data-${name.toLowerCase()}=`);
  const parsed = new DOMParser().parseFromString(kind === "svg" ? markup : `<div>${markup}</div>`, kind === "svg" ? "image/svg+xml" : "text/html");
  const root = kind === "svg" ? parsed.documentElement : parsed.body.firstElementChild;
  if (!root || parsed.querySelector("parsererror")) return h("p", { class: "notice error" }, "This picture cannot be shown.");
  return clean(root) ?? h("span");
}

function clean(node) {
  if (!KEPT.has(node.localName.toLowerCase())) return null;
  const copy = document.createElementNS(node.namespaceURI, node.localName);
  const styled = node.getAttribute("data-style");
  for (const { name, value } of node.attributes) {
    const lower = name.toLowerCase();
    if (/^(data-)?(on|style)/.test(lower) || lower === "src") continue;
    if (/href$/.test(lower) && !value.startsWith("#")) continue;
    if (/url\(\s*['"]?(?!#)/i.test(value)) continue;
    if (lower.startsWith("xmlns")) continue;
    copy.setAttribute(name, value);
  }
  // "fill: #123" becomes an attribute: the page's policy lets no style attribute through
  for (const rule of (styled ?? "").split(";")) {
    const [name, value] = rule.split(/:(.*)/s).map((part) => part?.trim());
    if (name && value && /^(fill|stroke|opacity|stroke-width|font-size|text-anchor|fill-opacity|stroke-dasharray)$/.test(name) && !/url/i.test(value)) copy.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE) { const kept = clean(child); if (kept) copy.append(kept); }
  }
  return copy;
}

/** What the browser keeps for this page; where it keeps nothing: until the page is closed. */
export function stored(key) {
  try { return localStorage.getItem(key) ?? ""; } catch { return ""; }
}
export function store(key, value) {
  try { localStorage.setItem(key, value); } catch { /* storage is off */ }
}

export function number(value, digits = 3) {
  return Number.isInteger(value) ? String(value) : String(Number(Number(value).toPrecision(digits)));
}

export function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
