/** Preloaded into a server or a delegate (`--import`): replaces lines of a module as CHAOS_PLANT says. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { PLANTS, type PlantName } from "./plants.ts";

const plant = PLANTS[process.env["CHAOS_PLANT"] as PlantName];
const url = new URL(`../../../${plant.module}`, import.meta.url).href;

registerHooks({
  load(loaded, context, next) {
    if (loaded !== url) return next(loaded, context);
    let source = readFileSync(fileURLToPath(loaded), "utf8");
    for (const [from, to] of plant.replace) {
      if (source.search(from) < 0) throw new Error(`${plant.module} has no ${from.source}. Update the planted fault.`);
      source = source.replace(from, to);
    }
    return { format: "module-typescript", source, shortCircuit: true };
  },
});
