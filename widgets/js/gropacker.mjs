// How a GRO packet fills: segments in the limit, fragments in sk_buffs, and which MTUs leave least room unused.

import { h, s, uid } from "./dom.mjs";
import { createPanel } from "./panel.mjs";
import { filled, pack, sweetSpots } from "./packing.mjs";
import { format, linear, ticks } from "./scales.mjs";
import { table } from "./table.mjs";

const SIDE = 4;
const BAR = 24;
const CURVE = { height: 170, left: 40, right: 8, top: 14, bottom: 34 };
const NEAR = 8; // pixels within which a click means the sweet spot

const count = (n) => n.toLocaleString("en");
const text = (x, y, words, more) => s("text", { x, y, ...more }, words);

function render({ model, el }) {
  const sizes = model.get("sizes");
  const range = (name) => ({ low: sizes[name][0], high: sizes[name][1] });
  const knobs = [
    {
      name: "mtu", kind: "int", ...range("mtu"), step: 1, unit: "bytes",
      doc: "Length of a full IP packet. Arrow keys: one byte.",
    },
    {
      name: "ip", kind: "choice", choices: Object.keys(sizes.ip), doc: "IPv4 has 20 bytes of header, IPv6 has 40.",
    },
    { name: "timestamps", kind: "switch", low: 0, high: 1, doc: "TCP's time stamps: 12 bytes more." },
    {
      name: "gro_max_size", kind: "int", ...range("gro_max_size"), step: 1, unit: "bytes",
      doc: "GRO refuses what would reach this length. For IPv4: gro_ipv4_max_size.",
    },
    {
      name: "max_skb_frags", kind: "choice", choices: sizes.max_skb_frags, doc: "Fragments of one sk_buff.",
    },
  ];
  const fill = uid("spare");

  const stated = h(
    "div",
    { class: "rp-settings", role: "group", "aria-label": "Settings of the thread" },
    "As in the thread:",
    sizes.stated.map((row) =>
      h(
        "button",
        { type: "button", class: "rp-setting", onclick: () => panel.move(settingOf(row)) },
        row.label,
      ),
    ),
  );
  const settingOf = (row) => ({ mtu: row.mtu, ip: row.ip, timestamps: 1, gro_max_size: row.gro_max_size });

  const chain = (packet) => {
    const { sk_buffs: all } = packet;
    if (all.length <= 4) return all.join(" + ");
    return `${all.length - 1} × ${all[0]} + ${all.at(-1)}`;
  };
  const words = (packet, v) =>
    `MTU ${count(v.mtu)}, ${v.ip}${v.timestamps ? " with time stamps" : ""}: ` +
    `${count(packet.segments)} segments of ${count(packet.payload_bytes)} bytes make a packet of ` +
    `${count(packet.length_bytes)} bytes, ${format(filled(packet))} % of the ${count(v.gro_max_size - 1)} allowed. ` +
    `Its ${count(packet.segments * packet.fragments_per_segment)} fragments lie in ${packet.sk_buffs.length} ` +
    `sk_buff${packet.sk_buffs.length > 1 ? `s (segments ${chain(packet)})` : ""}.`;

  // The packet as one bar of bytes: headers, segments, what is left.
  function bar(packet, v, width) {
    const x = linear(0, v.gro_max_size - 1, SIDE, width - SIDE);
    const top = 18;
    const parts = [text(SIDE, 12, `one packet: ${count(packet.length_bytes)} bytes of ${count(v.gro_max_size - 1)}`)];
    const box = (from, to, look) =>
      s("rect", { x: x(from), y: top, width: Math.max(0.5, x(to) - x(from)), height: BAR, class: look });
    parts.push(box(0, packet.headers_bytes, "rp-hue1"));
    for (let i = 0; i < packet.segments; i++) {
      const from = packet.headers_bytes + i * packet.payload_bytes;
      parts.push(box(from, from + packet.payload_bytes, `rp-part rp-hue0${i % 2 ? " rp-shade1" : ""}`));
    }
    const spare = box(packet.length_bytes, v.gro_max_size - 1, "rp-idle");
    spare.append(s("title", null, `${count(packet.spare_bytes)} bytes unused`));
    const hatch = box(packet.length_bytes, v.gro_max_size - 1, "");
    hatch.setAttribute("fill", `url(#${fill})`);
    parts.push(spare, hatch);
    return { parts, height: top + BAR + 8 };
  }

  // Its fragments as slots of sk_buffs: a row each.
  function slots(packet, v, width, from) {
    const each = packet.fragments_per_segment;
    const step = (width - 2 * SIDE) / v.max_skb_frags;
    const high = packet.sk_buffs.length > 12 ? 7 : 13;
    const parts = [text(SIDE, from + 12, `a row an sk_buff, a slot a fragment: ${packet.sk_buffs.length} × ${v.max_skb_frags}`)];
    packet.sk_buffs.forEach((segments, row) => {
      const y = from + 18 + row * (high + 2);
      for (let slot = 0; slot < v.max_skb_frags; slot++) {
        const segment = Math.floor(slot / each);
        const used = segment < segments;
        const look = used ? `rp-hue2${segment % 2 ? " rp-shade1" : ""}` : "rp-idle";
        parts.push(s("rect", { x: SIDE + slot * step, y, width: Math.max(1, step - 1), height: high, class: look }));
      }
    });
    return { parts, height: 18 + packet.sk_buffs.length * (high + 2) + 6 };
  }

  let place = null; // of the curve: { x, invert, spots }
  function curve(v, width, from) {
    const { height, left, right, top, bottom } = CURVE;
    const spots = sweetSpots(v, sizes);
    const at = (mtu) => filled(pack({ ...v, mtu }, sizes));
    // Between two sweet spots the share rises in a straight line: two corners a tooth.
    const corners = [];
    let low = sizes.mtu[0];
    for (const [, mtu] of [...spots].reverse()) {
      corners.push([low, at(low)], [mtu, at(mtu)]);
      low = mtu + 1;
    }
    if (low <= sizes.mtu[1]) corners.push([low, at(low)], [sizes.mtu[1], at(sizes.mtu[1])]);
    const least = Math.floor(Math.min(...corners.map((c) => c[1])) / 5) * 5;
    const x = linear(sizes.mtu[0], sizes.mtu[1], left, width - right);
    const y = linear(least, 100, from + height - bottom, from + top);
    const parts = [text(SIDE, from + 4, "% of the limit that a full packet uses")];
    for (const value of ticks(100 - least, 3).map((t) => 100 - t).filter((t) => t >= least)) {
      parts.push(s("path", { d: `M${left},${y(value)} H${width - right}`, class: "rp-grid" }));
      parts.push(text(left - 5, y(value) + 4, format(value).replace(/\.0+$/, ""), { class: "rp-tick", "text-anchor": "end" }));
    }
    for (const mtu of width < 450 ? [1500, 4500, 9000] : [1500, 3000, 4500, 6000, 7500, 9000])
      parts.push(text(x(mtu), from + height - bottom + 16, count(mtu), { class: "rp-tick", "text-anchor": mtu === 9000 ? "end" : "middle" }));
    parts.push(text(width / 2, from + height - 2, "MTU; dots: sweet spots", { "text-anchor": "middle" }));
    parts.push(s("path", { d: `M${corners.map(([m, share]) => `${x(m)},${y(share)}`).join("L")}`, class: "rp-series rp-ink0" }));
    let last = Infinity;
    const shown = spots.filter(([, mtu]) => {
      const clear = last - x(mtu) >= 9;
      if (clear) last = x(mtu);
      return clear;
    });
    for (const [segments, mtu] of shown) {
      const dot = s("circle", { cx: x(mtu), cy: y(at(mtu)), r: 3.5, class: "rp-now rp-ink0" });
      dot.append(s("title", null, `MTU ${count(mtu)}: ${segments} segments`));
      parts.push(dot);
    }
    const here = at(v.mtu);
    parts.push(s("path", { d: `M${x(v.mtu)},${from + top} V${from + height - bottom}`, class: "rp-reported" }));
    parts.push(s("path", { d: `M${x(v.mtu)},${y(here) - 6} l6,6 l-6,6 l-6,-6 z`, class: "rp-diamond" }));
    place = { x, top: from, bottom: from + height, invert: linear(left, width - right, ...sizes.mtu), shown };
    return { parts, height };
  }

  function draw() {
    const v = panel.values;
    const packet = pack(v, sizes);
    const width = panel.width();
    const said = words(packet, v);
    const all = bar(packet, v, width);
    const grid = slots(packet, v, width, all.height);
    const teeth = curve(v, width, all.height + grid.height + 8);
    const height = all.height + grid.height + 8 + teeth.height;
    const defs = s(
      "defs",
      null,
      s(
        "pattern",
        { id: fill, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
        s("path", { d: "M0,6 L6,0", class: "rp-hatch" }),
      ),
    );
    const picture = s(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said },
      defs, all.parts, grid.parts, teeth.parts,
    );
    picture.addEventListener("pointerdown", pointed);
    panel.picture.replaceChildren(picture);
    panel.summary.textContent = said;
    panel.numbers.replaceChildren(...tables(packet, v));
    panel.settled();
    panel.drawn({ knobs: { ...v }, packet });
  }

  function pointed(event) {
    const box = panel.picture.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    if (py < place.top || py > place.bottom) return;
    const near = place.shown.find(([, mtu]) => Math.abs(place.x(mtu) - px) < NEAR);
    const [low, high] = sizes.mtu;
    panel.move({ mtu: near ? near[1] : Math.min(high, Math.max(low, Math.round(place.invert(px)))) });
  }

  const fields = (packet, v) => [
    ["headers, bytes", packet.headers_bytes],
    ["payload of a segment, bytes", packet.payload_bytes],
    ["segments", packet.segments],
    ["payload of the packet, bytes", packet.data_bytes],
    ["length that GRO compares, bytes", packet.length_bytes],
    ["unused of the limit, bytes", packet.spare_bytes],
    ["used of the limit, %", filled(packet)],
    ["fragments of a segment", packet.fragments_per_segment],
    ["fragments of the packet", packet.segments * packet.fragments_per_segment],
    ["sk_buffs", packet.sk_buffs.length],
  ];

  function tables(packet, v) {
    const spots = sweetSpots(v, sizes).map(([segments, mtu]) => {
      const one = pack({ ...v, mtu }, sizes);
      return [count(mtu), count(segments), count(one.length_bytes), format(filled(one)), one.sk_buffs.length];
    });
    const said = sizes.stated.map((row) => {
      const one = pack({ ...settingOf(row), max_skb_frags: v.max_skb_frags }, sizes);
      return [
        h("a", { href: row.url }, `${row.label} (${row.source})`),
        `${row.segments} and ${count(row.bytes)}`,
        `${one.segments} and ${count(one[row.what])}`,
        row.what === "length_bytes" ? "with headers" : "payload",
      ];
    });
    return [
      table("This packet", ["what", "value"], fields(packet, v).map(([name, n]) => [name, Number.isInteger(n) ? count(n) : format(n)])),
      table("Said in the thread, and computed", ["setting", "said: segments and bytes", "computed", "bytes are"], said),
      table("Sweet spots: the largest MTU for each number of segments", ["MTU", "segments", "length, bytes", "used, %", "sk_buffs"], spots),
    ];
  }

  const rows = () => {
    const v = panel.values;
    return [
      ["kind", "name", "value"],
      ...knobs.map((k) => ["knob", k.name, v[k.name]]),
      ...fields(pack(v, sizes), v).map(([name, n]) => ["packet", name, n]),
      ["sweet spot", "segments", "mtu"],
      ...sweetSpots(v, sizes).map(([segments, mtu]) => ["sweet spot", segments, mtu]),
    ];
  };

  const panel = createPanel({
    model, el, name: "GroPacker", title: "How a GRO packet fills", knobs, moved: draw,
    draw, rows, extra: stated,
  });
  panel.mark.textContent = "Arithmetic, no run: the rule of net/core/gro.c (5.17), as in sim/packing.py";
  panel.legend.setAttribute("aria-label", "Parts of the picture");
  const key = (look, words) =>
    h("li", null, s("svg", { width: 14, height: 14, class: "rp-swatch", "aria-hidden": "true" }, s("rect", { width: 14, height: 14, class: look })), ` ${words}`);
  panel.legend.append(
    key("rp-hue1", "headers, once"),
    key("rp-hue0", "a segment's payload"),
    key("rp-hue2", "a fragment"),
    key("rp-idle", "unused"),
  );
  panel.start();
  return panel.close;
}

export default { render };
