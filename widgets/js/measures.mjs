// Single figures from runs of scenarios: the mean of a metric over a few replications, as Python has it.

import { createPool, refusal } from "./pool.mjs";
import { combine } from "./reduce.mjs";

const LANES = 2;

// sidecars: by name of the scenario. An engine starts when a scenario is first asked for. A question that comes while
// another is being answered ends that one, whose promise is then never kept.
export function createMeasures(sidecars, replications) {
  const benches = {};

  function bench(scenario) {
    const sidecar = sidecars[scenario];
    const defaults = Object.fromEntries(sidecar.knobs.map((k) => [k.name, k.default]));
    let ticket = -1;
    let waiting = null;
    let samples = [];
    const pool = createPool(sidecar, LANES, (message) => {
      if (message.kind === "failed" && (message.ticket === 0 || message.ticket === ticket))
        waiting?.reject(new Error(message.reason));
      if (message.ticket !== ticket || message.kind !== "sample") return;
      samples[message.job.seed - 1] = message.sample;
      if (Object.keys(samples).length === replications) waiting?.resolve(combine(samples, sidecar, {}).metrics);
    });
    return {
      ask(knobs) {
        const job = (seed) => ({
          arm: 0, seed, values: { ...defaults, ...knobs }, warm: sidecar.warm_ps, until: sidecar.until_ps, quick: false,
        });
        const jobs = Array.from({ length: replications }, (_, i) => job(i + 1));
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject };
          samples = [];
          ticket = pool.ask((lane) => jobs.filter((one) => one.seed % LANES === lane));
        });
      },
      close: pool.close,
    };
  }

  return {
    async measure(run, knobs) {
      if (refusal()) throw new Error(refusal());
      const metrics = await (benches[run.scenario] ??= bench(run.scenario)).ask(knobs);
      return metrics[run.metric].mean;
    },
    close: () => Object.values(benches).forEach((one) => one.close()),
  };
}
