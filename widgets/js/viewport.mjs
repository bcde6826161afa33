// The part of a window of time that is in sight: moved and zoomed, never beyond the window's ends.

export function createViewport(closest) {
  let [low, high, from, to] = [0, 1, 0, 1];

  function look(begin, span) {
    const wide = Math.min(high - low, Math.max(closest, span));
    from = Math.min(high - wide, Math.max(low, begin));
    to = from + wide;
  }

  return {
    look,
    get from() {
      return from;
    },
    get to() {
      return to;
    },
    get span() {
      return to - from;
    },
    // The window's ends; all of it is in sight.
    reset(begin, end) {
      [low, high, from, to] = [begin, end, begin, end];
    },
    whole: () => look(low, high - low),
    pan: (part) => look(from + part * (to - from), to - from),
    // A time stays where it is.
    zoom(factor, about) {
      const span = Math.max(closest, (to - from) * factor);
      look(about - ((about - from) / (to - from)) * span, span);
    },
    holds: (time) => time >= from && time <= to,
    show: (time) => look(time - (to - from) / 3, to - from),
  };
}
