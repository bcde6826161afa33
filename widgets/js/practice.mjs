// Practice: a problem with numbers of its own, a field for the answer, a hint, the way to the answer, and a score.

import { h, uid } from "./dom.mjs";
import { createMeasures } from "./measures.mjs";
import { createPanel } from "./panel.mjs";
import { answerOf, begin, check, expected, explanation, follow, question, solve } from "./problem.mjs";
import { count, fateOf, FATES, forget, note } from "./score.mjs";
import { amount } from "./formula.mjs";
import { table } from "./table.mjs";
import { number } from "./typed.mjs";

const OFTEN = ["first", "later", "shown"];

// Words between backticks are code.
const inline = (words) => words.split("`").map((part, at) => (at % 2 ? h("code", null, part) : part));

function render({ model, el }) {
  const kinds = model.get("kinds");
  const chapters = model.get("chapters");
  const last = model.get("last");
  const names = kinds.map((kind) => kind.name);
  const knobs = [
    {
      name: "kind", kind: "choice", choices: names, labels: kinds.map((kind) => kind.title), doc: "What is practised.",
    },
    {
      name: "seed", kind: "int", low: 1, high: last, step: 1,
      doc: "The problem's number: the same one has the same figures for everybody.",
    },
  ];
  const measures = createMeasures(model.get("sidecars"), model.get("replications"));
  let kind = kinds[0];
  let known = {};
  let whole = false; // whether all that the text states is known
  let solved = null;
  let turn = 0; // counts problems, so that a run for an earlier one is not taken for this one's

  const title = h("p", { class: "rp-arm-title" });
  const asked = h("p", { class: "rp-question" });
  const form = h("span");
  const field = h("input", {
    type: "text", autocomplete: "off", inputmode: "decimal", class: "rp-typed", id: uid("answer"), "aria-describedby": uid("form"),
  });
  form.id = field.getAttribute("aria-describedby");
  const unit = h("span", { class: "rp-unit" });
  const hint = h("p", { class: "rp-hint", hidden: true, "aria-live": "polite" });
  const way = h("ol", { class: "rp-way", hidden: true });
  const button = (label, onclick) => h("button", { type: "button", onclick }, label);
  const problem = h(
    "form",
    { class: "rp-problem", novalidate: true },
    title,
    asked,
    h("p", { class: "rp-answer" }, h("label", { for: field.id }, "Your answer"), field, unit, h("small", { class: "rp-doc" }, form)),
    h(
      "p",
      { class: "rp-actions" },
      h("button", { type: "submit" }, "Check"),
      button("Hint", () => {
        hint.hidden = false;
        tell(kind.hint, hint);
      }),
      button("Show the answer", reveal),
      button("Another problem", () => panel.move({ seed: (panel.values.seed % last) + 1 })),
    ),
    hint,
    way,
  );
  problem.addEventListener("submit", (event) => {
    event.preventDefault();
    judge();
  });
  field.addEventListener("input", () => {
    model.set("typed", field.value);
    model.save_changes();
  });

  const tell = (words, place = panel.summary) => place.replaceChildren(...inline(words));
  const verdictIs = (state) => (problem.dataset.verdict = state);

  // The solution, once: runs if the problem needs them. null if another problem was chosen meanwhile.
  async function solution() {
    const mine = turn;
    if (solved) return solved;
    panel.settled(false);
    tell("The engine runs …");
    try {
      const found = await solve(kind, known, measures.measure);
      if (mine !== turn) return null;
      solved = found;
      panel.settled();
      return solved;
    } catch (error) {
      if (mine === turn) fail(error);
      return null;
    }
  }

  function fail(error) {
    tell(`No answer: ${error.message}.`);
    panel.settled();
  }

  async function judge() {
    if (!whole) return;
    const { kind: name, seed } = panel.values;
    if (field.value.trim() === "") return tell("Type a number first.");
    let typed;
    try {
      typed = number(field.value);
    } catch (error) {
      return tell(error.message);
    }
    if (!(await solution())) return;
    const verdict = check(kind, solved, typed);
    note(name, seed, verdict.right ? "right" : "wrong");
    verdictIs(verdict.right ? "right" : "wrong");
    tell(verdict.message);
    if (verdict.right) steps();
    score();
    panel.drawn({ knobs: { ...panel.values }, verdict, done: true });
  }

  async function reveal() {
    if (!whole || !(await solution())) return;
    note(panel.values.kind, panel.values.seed, "shown");
    steps();
    const { name, unit: its } = answerOf(kind);
    tell(`The answer: ${amount(solved[name], its)}.`);
    score();
    panel.drawn({ knobs: { ...panel.values }, solved, done: true });
  }

  function steps() {
    way.hidden = false;
    way.replaceChildren(...explanation(kind, solved).map((line) => h("li", null, line)));
  }

  function write() {
    asked.replaceChildren(...inline(question(kind, known)));
  }

  async function pose() {
    const mine = ++turn;
    kind = kinds.find((one) => one.name === panel.values.kind);
    [known, whole] = begin(kind, panel.values.seed);
    solved = null;
    field.value = "";
    model.set("typed", "");
    for (const part of [hint, way]) part.hidden = true;
    verdictIs("none");
    title.textContent = kind.title;
    unit.textContent = answerOf(kind).unit;
    form.textContent = expected(kind);
    tell("");
    write();
    score();
    if (!whole) {
      panel.settled(false);
      tell("A run gives the numbers of this problem …");
      try {
        const found = await follow(kind.before, known, measures.measure);
        if (mine !== turn) return;
        known = found;
        whole = true;
        write();
        tell("");
      } catch (error) {
        if (mine === turn) fail(error);
        return;
      }
    }
    panel.settled();
    panel.drawn({ knobs: { ...panel.values }, known, done: true });
  }

  function score() {
    const all = count(names);
    const sum = Object.values(all).reduce((a, b) => a + b, 0);
    const parts = OFTEN.map((fate) => `${all[fate]} ${FATES[fate]}`).join(", ");
    const fate = fateOf(panel.values.kind, panel.values.seed);
    panel.mark.replaceChildren(
      `${chapters[kind.chapter]} · problem ${panel.values.seed}${fate ? ` (${FATES[fate]})` : ""} · ` +
        `kept in this browser: ${sum} tried, ${parts}`,
    );
    panel.numbers.replaceChildren(
      table("Your problems, by kind", ["kind", ...Object.values(FATES)], rowsOf()),
      h("p", { class: "rp-actions" }, button("Forget these", () => (forget(names), score()))),
    );
  }
  const rowsOf = () => kinds.map((one) => [one.title, ...Object.values(count([one.name])).map(String)]);

  const call = () => {
    const { kind: name, seed } = panel.values;
    const chapter = model.get("chapter");
    return `Practice(${[JSON.stringify(name), chapter && `chapter=${JSON.stringify(chapter)}`, `seed=${seed}`].filter(Boolean).join(", ")})`;
  };
  const rows = () => [
    ["what", "name", "value"],
    ["problem", panel.values.kind, panel.values.seed],
    ...Object.entries(known).map(([name, value]) => ["given", name, value]),
    ...kinds.flatMap((one) => Object.entries(count([one.name])).map(([fate, n]) => [`score: ${fate}`, one.name, n])),
  ];

  const panel = createPanel({
    model, el, name: "Practice", title: "Practice", knobs, moved: pose, draw() {}, rows, call,
    key: `practice${names.length > 1 ? "" : `-${names[0]}`}${model.get("chapter") ? `-${model.get("chapter")}` : ""}`,
  });
  panel.picture.classList.add("rp-text");
  panel.picture.append(problem);
  panel.start();
  pose();
  return () => {
    turn++;
    panel.close();
    measures.close();
  };
}

export default { render };
