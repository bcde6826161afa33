// Mounts every widget of a built page: no kernel, no server, no request. What it offers a widget is the part
// of anywidget's model that the widgets use, so one module serves both.

import { widgets } from "./registry.mjs";
import { refusal } from "./pool.mjs";
import { css } from "./styles.mjs";
import { h } from "./dom.mjs";

function model(state) {
  const heard = {};
  const tell = (name) => (heard[name] ?? []).forEach((f) => f());
  return {
    host: "page",
    get: (key) => state[key],
    set(key, value) {
      if (state[key] === value) return;
      state[key] = value;
      tell(`change:${key}`);
    },
    on: (name, f) => void (heard[name] ??= []).push(f),
    off: (name, f) => (heard[name] = (heard[name] ?? []).filter((g) => g !== f)),
    save_changes() {},
    send() {},
  };
}

function mount(root) {
  const say = (why) => (root.querySelector(".rp-reason").textContent = `A still picture: ${why}.`);
  const why = refusal();
  if (why) return say(why);
  const still = root.querySelector(".rp-still");
  const el = h("div", { class: "rp-live" });
  try {
    const state = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    root.append(el);
    // The still picture stands until the first picture from a run is there.
    const drawn = () => (still.hidden = true);
    el.addEventListener("rp-drawn", drawn, { once: true });
    el.addEventListener("rp-failed", (event) => {
      el.remove();
      still.hidden = false;
      say(event.detail);
    });
    widgets[root.dataset.receivePathWidget].render({ model: model(state), el });
  } catch (error) {
    el.remove();
    say(`the live figure could not start (${error.message})`);
    console.error(error);
  }
}

function all() {
  const roots = document.querySelectorAll("[data-receive-path-widget]");
  if (!roots.length) return;
  document.head.append(h("style", null, css));
  roots.forEach(mount);
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", all);
else all();
