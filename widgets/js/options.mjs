// A list of which one entry is chosen, by mouse, touch or keys: arrows, Home, End, PageUp, PageDown; Escape lets go.
// Entries are the elements with data-name in `node`, in their order, whatever they are drawn with.

const PAGE = 5;

// chosen(name): an entry was chosen ("" by Escape). opened(name): Enter, Space, or a click on the chosen one.
export function createOptions(node, { chosen, opened = () => {} }) {
  let current = "";
  const all = () => [...node.querySelectorAll("[data-name]")];
  const find = (name) => all().find((one) => one.dataset.name === name);

  // After the entries were drawn again: who can be reached by Tab, who is chosen, and where the focus was.
  function refresh(name, held = node.contains(document.activeElement)) {
    current = name;
    const entries = all();
    const reach = find(name) ?? entries[0];
    for (const one of entries) {
      one.setAttribute("tabindex", one === reach ? "0" : "-1");
      one.setAttribute("aria-selected", String(one.dataset.name === name));
    }
    if (held) reach?.focus();
  }

  function choose(name) {
    chosen(name);
    (find(name) ?? find(current))?.focus();
  }

  node.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const list = all().map((one) => one.dataset.name);
    const at = list.indexOf(document.activeElement?.dataset?.name);
    const to = {
      ArrowDown: at + 1,
      ArrowRight: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: at - 1,
      PageDown: at + PAGE,
      PageUp: at - PAGE,
      Home: 0,
      End: list.length - 1,
    }[event.key];
    if (to !== undefined) choose(list[Math.min(list.length - 1, Math.max(0, to))]);
    else if (event.key === "Enter" || event.key === " ") {
      if (list[at] !== current) choose(list[at]);
      opened(list[at]);
    } else if (event.key === "Escape") chosen("");
    else return;
    event.preventDefault();
  });
  node.addEventListener("click", (event) => {
    const name = event.target.closest?.("[data-name]")?.dataset.name;
    if (name === undefined) return;
    if (name === current) opened(name);
    else choose(name);
  });
  return { refresh };
}
