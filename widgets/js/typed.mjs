// A number as somebody types it, as sim/exercises/typed.py reads it; a test holds both equal.

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const GROUPS = /^[+-]?[1-9]\d{0,2}([,.]\d{3})+$/;

// The number; an Error with a sentence for what is none, and for what is one number here and another there.
export function number(text) {
  let typed = text.replaceAll("−", "-").replace(/\s/g, "");
  const marks = typed.replace(/[^,.]/g, "");
  const kinds = new Set(marks).size;
  if (marks === "," && GROUPS.test(typed))
    throw new Error(`${typed} can be read in two ways: write ${typed.replace(",", "")} or ${typed.replace(",", ".")}.`);
  if (marks.length > 1 && kinds === 1 && GROUPS.test(typed)) typed = typed.replaceAll(marks[0], "");
  else if (kinds === 2 && marks.indexOf(marks.at(-1)) === marks.length - 1) {
    const at = typed.lastIndexOf(marks.at(-1));
    const whole = typed.slice(0, at);
    if (new Set(whole.replace(/[^,.]/g, "")).size === 1 && GROUPS.test(whole))
      typed = `${whole.replace(/[,.]/g, "")}.${typed.slice(at + 1)}`;
  } else if (marks === ",") typed = typed.replace(",", ".");
  if (!PLAIN.test(typed)) throw new Error("This is no number.");
  return Number(typed);
}
