import { h, replace } from "./dom.js";
export async function mount(root, app) {
  replace(root, h("h1", {}, "Record"), h("pre", {}, JSON.stringify(app.project, null, 2)));
}
