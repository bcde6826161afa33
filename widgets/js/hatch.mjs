// The pattern of time that is spent waiting.

import { s } from "./dom.mjs";

export const waitPattern = (id) =>
  s(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    s("rect", { width: 6, height: 6, class: "rp-spin-ground" }),
    s("path", { d: "M0,6 L6,0 M-1,1 L1,-1 M5,7 L7,5", class: "rp-spin" }),
  );
